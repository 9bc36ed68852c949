/** A process with an MQTT broker that keeps sessions in memory. It sends its port to its parent. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'

// Its parent may be killed.
process.once('disconnect', () => process.exit())
const broker = await Aedes.createBroker()
const server = createServer(broker.handle).listen(Number(process.argv[2] ?? 0), '127.0.0.1')
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)
