/** Reads without a QuestDB: permissions, parameters and events. */

import './read/readers.ts'
import './read/parameters.ts'
import './read/events.ts'
