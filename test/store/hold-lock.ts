/** A process for tests: reads a lock file of SQLite's in a transaction, which keeps others from locking it. */

import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2] ?? '', { readOnly: true })
database.exec('BEGIN; SELECT * FROM sqlite_master')
process.send?.('held')
setInterval(() => database.isOpen, 60_000)
