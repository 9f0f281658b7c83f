import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { App } from "./state.ts";
import type { Words } from "../words/words.ts";

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("nothing is drawn outside of the page");
  return app;
}

export function useWords(): Words {
  return useApp().words.value;
}
