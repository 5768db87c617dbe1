import { newFixture } from "./fixture.js";

newFixture().plugin.main();
