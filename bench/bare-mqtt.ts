/**
 * The baseline: a broker that accepts all messages, stores nothing and has no subscriber. It sends its port to the
 * parent.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'

// The parent may be killed.
process.once('disconnect', () => process.exit())
const broker = await Aedes.createBroker({ heartbeatInterval: 0 })
const server = createServer(broker.handle).listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)
process.on('SIGTERM', () => process.exit())
