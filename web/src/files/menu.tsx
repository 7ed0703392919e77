import { Menu } from "../ui/menu.tsx";
import { actions } from "./actions.ts";

export function FileMenu() {
  return <Menu label="File" items={actions()} />;
}
