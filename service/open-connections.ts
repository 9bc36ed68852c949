/** Bounds connections by the settings and the limit of open files. */

import { type Connections, createConnections } from '../store/limits/connections.ts'
import { connectionsThatFit } from '../store/limits/open-files.ts'
import type { Log } from '../store/log.ts'
import type { Config } from './settings/config.ts'

/** Every connection is a file, so call it after the journal and the databases are open. */
export function openConnections(config: Config, log: Log, isTrusted: (address: string) => boolean): Connections {
  const max = Math.min(config.CONNECTIONS_MAX, connectionsThatFit())
  if (max < config.CONNECTIONS_MAX) {
    log.warn({ max }, 'CONNECTIONS_MAX lowered to fit the limit of open files; raise it with ulimit -n')
  }
  const perAddress = config.CONNECTIONS_PER_ADDRESS ?? Math.ceil(max / 4)
  return createConnections({ max, perAddress, isTrusted, log })
}
