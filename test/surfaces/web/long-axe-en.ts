import { everyPage } from "./axe.ts";

everyPage("en");
