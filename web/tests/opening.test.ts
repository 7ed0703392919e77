import { test } from "node:test";
import { visit } from "./playground.ts";

test("the opening page has findings", () =>
  visit(async (page) => {
    await page.getByRole("button", { name: /chekout/ }).waitFor();
  }));
