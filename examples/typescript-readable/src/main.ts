import { newPlugin } from "./plugin.js";

newPlugin().main();
