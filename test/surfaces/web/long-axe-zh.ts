import { everyPage } from "./axe.ts";

everyPage("zh");
