/** Reads without a QuestDB: who reads, parameters and events. */

import './read/readers.ts'
import './read/parameters.ts'
import './read/events.ts'
