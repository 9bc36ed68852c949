/** A process for tests: holds a data directory until it is killed. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openDataDirectory } from '../../store/data-directory.ts'

openDataDirectory(process.argv[2] ?? '')
// The lock does not depend on a reference to the result.
setFlagsFromString('--expose-gc')
runInNewContext('gc')()
process.send?.('held')
setInterval(() => undefined, 60_000)
