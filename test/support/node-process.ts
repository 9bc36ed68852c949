/** A service that is a node among others, as a process of its own, by the settings of its environment. */

import { watchParent } from '../../service/parent.ts'
import { createLog } from '../../service/run-service.ts'
import { startService } from '../../service/service.ts'
import { readConfig } from '../../service/settings/config.ts'

const config = readConfig(process.env)
const log = await createLog(config, false)
const onFatal = (error: Error): void => {
  log.fatal({ err: error }, error.message)
  process.exit(1)
}
const { signal } = new AbortController()
const service = await startService({ config, log, signal, onFatal, nodes: process.env['ALONE'] === undefined })
log.info({ url: service.url }, 'listening')
const stop = (): void => void service.close().then(() => process.exit(0))
process.on('SIGTERM', stop)
watchParent(config.PARENT_PID, stop)
