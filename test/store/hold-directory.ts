/** A process for tests: holds a data directory until it is killed. */

import { openDataDirectory } from '../../store/data-directory.ts'

openDataDirectory(process.argv[2] ?? '')
process.send?.('held')
setInterval(() => undefined, 60_000)
