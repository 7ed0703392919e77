import { dark, switchTheme } from "./theme.ts";

export function ThemeSwitch() {
  const label = dark.value ? "Switch to light colours" : "Switch to dark colours";
  return (
    <button type="button" class="theme" aria-label={label} title={label} onClick={switchTheme}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
        <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
      </svg>
    </button>
  );
}
