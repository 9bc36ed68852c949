/** A process for tests. It takes this many ports, prints them, and keeps them until it is killed. */

import { freePort } from '../../store/process/free-port.ts'

const count = Number(process.argv[2])
process.send?.(await Promise.all(Array.from({ length: count }, freePort)))
setInterval(() => undefined, 60_000)
