/** The statements of MQTT 3.1.1 alone. */

import { connect, credential, kept, packet, text, uint16 } from '../mqtt-bytes.ts'
import type { Statements } from '../statements.ts'
import { accepted, clientId, closed, none, open, packetsOf, type Row, refused, surrogate } from './packets.ts'

const { connected, ofClient, withWill, publish, subscribe, unsubscribe } = packetsOf(4)
const withFirst = (first: number) => Buffer.concat([Buffer.from([first]), connect(4).subarray(1)])

export const rowsOf311: Row[] = [
  ['1.5.3-1', 'a client identifier has a surrogate', ofClient({ payload: [text(surrogate), ...credential] }), []],
  ['1.5.3-2', 'a client identifier has a null character', ofClient({ payload: [text(none), ...credential] }), []],
  ['1.5.3-2 4.7.3-2', 'a topic filter has a null character', connected(subscribe(text(none), 0)), closed],
  ['2.2.2-1 2.2.2-2', 'RETAIN of CONNECT', [withFirst(0x11)], []],
  ['2.2.2-1 2.2.2-2', 'DUP of CONNECT', [withFirst(0x18)], []],
  ['2.3.1-1', 'PUBREL with the identifier 0', connected(packet(0x62, uint16(0))), closed],
  // What would be the identifier is the payload.
  ['2.3.1-5', 'QoS 0 has no identifier', connected(publish({ qos: 0, payload: uint16(7) })), open],
  ['3.1.0-1', 'PINGREQ before CONNECT', [], []],
  ['3.1.2-2 3.2.2-5', 'MQTT 3.1', [connect(3, { name: 'MQIsdp' })], refused('1')],
  ['3.1.2-2 3.2.2-5', 'level 3', [connect(3)], refused('1')],
  ['3.1.2-8 3.1.2-9', 'a will', withWill(0x2c, 'a', 'gone'), open],
  [
    '3.1.2-11',
    'a will without its flag',
    ofClient({ payload: [clientId, text('a'), text('gone'), ...credential] }),
    [],
  ],
  ['3.1.2-22', 'a password without a user name', ofClient({ flags: 0x42, payload: [clientId, text('x')] }), []],
  ['3.1.3-6 3.1.3-7', 'an empty client identifier', ofClient({ payload: [text(''), ...credential] }), open],
  ['3.3.2-1', 'the topic name ends behind the packet', connected(packet(0x30, uint16(9), 0x61)), closed],
  ['3.3.2-2 4.7.1-1', 'a topic name with +', connected(publish({ qos: 0, topic: 'readings/+' })), closed],
  ['3.8.3-4', 'SUBSCRIBE with a reserved bit', connected(subscribe(text('a'), 4)), closed],
  ['3.8.3-3', 'SUBSCRIBE without a QoS', connected(subscribe(text('a'))), closed],
  [
    '3.8.4-1 3.8.4-2 3.8.4-4 3.8.4-5 3.9.3-1 3.9.3-2 2.3.1-7',
    'two topic filters',
    connected(subscribe(text('a'), 0, text('b'), 2)),
    [accepted, 'suback 9 0x80 0x80', kept],
  ],
  [
    '3.10.4-4 3.10.4-5 3.10.4-6 2.3.1-7',
    'UNSUBSCRIBE of what there is not',
    connected(unsubscribe(text('a'), text('b'))),
    [accepted, 'unsuback 9', kept],
  ],
  ['4.8.0-1', 'DISCONNECT with a body', connected(packet(0xe0, 0)), closed],
  ['4.8.0-1', 'PUBREL with a body', connected(packet(0x62, uint16(1), 0)), closed],
  ['4.8.0-1', 'type 15', connected(packet(0xf0)), closed],
  ...['a+', '+a/b', 'a/+b'].map((filter): Row => {
    return ['4.7.1-3 4.8.0-1', `UNSUBSCRIBE of ${filter}`, connected(unsubscribe(text(filter))), closed]
  }),
  ...['#', '+', 'a/#', '+/a/+', '/+', '/'].map((filter): Row => {
    const answers = [accepted, 'suback 9 0x80', kept]
    return ['4.7.1-2 4.7.1-3', `the filter ${filter}`, connected(subscribe(text(filter), 0)), answers]
  }),
  ['4.7.3-1', 'UNSUBSCRIBE of an empty topic filter', connected(unsubscribe(text(''))), closed],
]

/** The numbers of the statements by section, and why no row is about a statement. */
export const statementsOf311: Omit<Statements, 'rows'> = {
  sections: {
    '1.5.3': [1, 3],
    '2.2.2': [1, 2],
    '2.3.1': [1, 7],
    '3.1.0': [1, 2],
    '3.1.2': [1, 24],
    '3.1.3': [1, 11],
    '3.1.4': [1, 5],
    '3.2.0': [1, 1],
    '3.2.2': [1, 6],
    '3.3.1': [1, 12],
    '3.3.2': [1, 3],
    '3.3.4': [1, 1],
    '3.3.5': [1, 2],
    '3.6.1': [1, 1],
    '3.8.1': [1, 1],
    '3.8.3': [1, 4],
    '3.8.4': [1, 6],
    '3.9.3': [1, 2],
    '3.10.1': [1, 1],
    '3.10.3': [1, 2],
    '3.10.4': [1, 6],
    '3.12.4': [1, 1],
    '3.14.1': [1, 1],
    '3.14.4': [1, 3],
    '4.1.0': [1, 2],
    '4.3.1': [1, 1],
    '4.3.2': [1, 2],
    '4.3.3': [1, 2],
    '4.4.0': [1, 1],
    '4.5.0': [1, 2],
    '4.6.0': [1, 6],
    '4.7.1': [1, 3],
    '4.7.2': [1, 1],
    '4.7.3': [1, 4],
    '4.8.0': [1, 2],
    '6.0.0': [1, 4],
  },
  withoutRow: [
    ['rules for clients', '2.3.1-2 2.3.1-3 3.1.2-23 3.14.4-1 4.3.2-1 4.3.3-1 4.4.0-1 4.5.0-2 4.6.0-1 4.6.0-3 4.6.0-4'],
    [
      'nothing is delivered to clients',
      '2.3.1-4 3.1.2-5 3.3.1-3 3.3.1-6 3.3.1-8 3.3.1-9 3.3.2-3 3.3.5-1 4.5.0-1 4.6.0-5',
    ],
    ['nothing is delivered to clients', '4.6.0-6 4.7.2-1 4.7.3-4 3.8.4-3 3.8.4-6 3.10.4-1 3.10.4-2 3.10.4-3'],
    ['no message is retained', '3.1.2-7 3.3.1-7 3.3.1-10 3.3.1-11'],
    ['no will is published', '3.1.2-10 3.1.2-12 3.1.2-16 3.1.2-17 3.14.4-3'],
    ['a session ends with its connection', '3.2.2-2 4.1.0-1 4.1.0-2'],
    ['listener.test.ts: of two clients of one name the later one stays', '3.1.3-2 3.1.4-2'],
    ['listener.test.ts: what may be stored later closes the connection', '4.8.0-2'],
    ['session.test.ts: the keep-alive', '3.1.2-24'],
    ['two bytes hold no longer length', '4.7.3-3'],
    ['there are no WebSockets', '6.0.0-1 6.0.0-2 6.0.0-3 6.0.0-4'],
  ],
}
