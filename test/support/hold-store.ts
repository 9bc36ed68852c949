/** A process for tests: opens the databases of a data directory and holds them until it is killed. */

import { openDataDirectory } from '../../store/data-directory.ts'
import { openStore } from '../../store/store.ts'
import { storeOptions } from './databases.ts'

const [, , path = '', when, pgPort] = process.argv
const options = storeOptions(openDataDirectory(path))
const store = await openStore({ ...options, ...(pgPort === undefined ? {} : { questdbPgPort: Number(pgPort) }) })
await store.postgres.query('CREATE TABLE IF NOT EXISTS kept (word text)')
await store.postgres.query("INSERT INTO kept VALUES ('still here')")
// The test decides whether it wants to see QuestDB up or in the middle of its start.
if (when !== 'starting') await store.questdb.ready
process.send?.('open')
setInterval(() => undefined, 60_000)
