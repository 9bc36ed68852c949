/** The yardstick: a broker that takes whatever is published, stores nothing and has no subscriber. Tells its port to its parent. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'

// Its parent may be killed.
process.once('disconnect', () => process.exit())
const broker = await Aedes.createBroker({ heartbeatInterval: 0 })
const server = createServer(broker.handle).listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)
process.on('SIGTERM', () => process.exit())
