// Keyboard navigation in a list of tabs: one tab is in the tab order, the arrow keys reach the others.

/** Handles the keys of a tablist: focuses and selects another tab. */
export function moveInTabs(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.indexOf(event.target as HTMLElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const tab = tabs[to % tabs.length];
  tab?.focus();
  tab?.click();
}
