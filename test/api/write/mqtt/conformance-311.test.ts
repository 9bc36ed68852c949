/**
 * The normative statements of MQTT 3.1.1 (OASIS standard, appendix B), each with what a client sends and what comes back,
 * or with the reason why there is nothing to send.
 */

import { test } from 'tap'
import { reading, startListener } from '../../../support/mqtt.ts'
import {
  type ConnectParts,
  connect,
  credential,
  exchange,
  kept,
  packet,
  text,
  uint16,
} from '../../../support/mqtt-bytes.ts'
import { checkStatements, type Statements } from '../../../support/statements.ts'

type Row = [statements: string, what: string, sent: Buffer[], answers: string[]]

const accepted = 'connack'
const open = [accepted, kept]
const closed = [accepted]
const refused = (code: number) => [`connack 0x${code}`]
const wrong = Buffer.from([0xc3, 0x28])
const surrogate = Buffer.from([0xed, 0xa0, 0x80])
const none = Buffer.from('a\0b')
const topic = text('readings/porch')
const payload = Buffer.from(reading(1))

const connected = (...packets: Buffer[]) => [connect(4), ...packets]
const other = (parts: ConnectParts, ...packets: Buffer[]) => [connect(4, parts), ...packets]
const publish = (flags: number, ...parts: Buffer[]) => packet(0x30 | flags, ...parts)
const subscribe = (...parts: (Buffer | number)[]) => packet(0x82, uint16(9), ...parts)
const unsubscribe = (...parts: Buffer[]) => packet(0xa2, uint16(9), ...parts)
const clientId = text('id')
const will = [text('a'), text('gone')]

const rows: Row[] = [
  ['1.5.3-1 3.1.3-4', 'a client identifier is not UTF-8', other({ payload: [text(wrong), ...credential] }), []],
  ['1.5.3-1', 'a client identifier has a surrogate', other({ payload: [text(surrogate), ...credential] }), []],
  ['1.5.3-1 3.1.3-11', 'a user name is not UTF-8', other({ payload: [clientId, text(wrong), text('x')] }), []],
  [
    '1.5.3-1 3.1.3-10',
    'a will topic is not UTF-8',
    other({ flags: 0xc6, payload: [clientId, text(wrong), text('x'), ...credential] }),
    [],
  ],
  ['1.5.3-1 3.3.2-1', 'a topic name is not UTF-8', connected(publish(2, text(wrong), uint16(1))), closed],
  ['1.5.3-1 3.8.3-1', 'a topic filter is not UTF-8', connected(subscribe(text(wrong), 0)), closed],
  ['1.5.3-1 3.10.3-1', 'a topic filter is not UTF-8', connected(unsubscribe(text(wrong))), closed],
  ['1.5.3-2', 'a client identifier has a null character', other({ payload: [text(none), ...credential] }), []],
  ['1.5.3-2 4.7.3-2', 'a topic name has a null character', connected(publish(2, text(none), uint16(1))), closed],
  ['1.5.3-2 4.7.3-2', 'a topic filter has a null character', connected(subscribe(text(none), 0)), closed],
  // Stripped off, it would be the topic of the device.
  [
    '1.5.3-3',
    'a byte order mark stays',
    connected(publish(2, text('\ufeffreadings/porch'), uint16(1), payload)),
    closed,
  ],
  ['2.2.2-1 2.2.2-2', 'RETAIN of CONNECT', [flagged(connect(4), 0x11)], []],
  ['2.2.2-1 2.2.2-2', 'DUP of CONNECT', [flagged(connect(4), 0x18)], []],
  ...([0x60, 0x66, 0x80, 0x8a, 0xa0, 0xaa, 0xc1, 0xe1] as const).map((first): Row => {
    return [
      '2.2.2-1 2.2.2-2 3.6.1-1 3.8.1-1 3.10.1-1 3.14.1-1',
      `first byte ${first}`,
      connected(ofType(first)),
      closed,
    ]
  }),
  ['2.3.1-1', 'PUBLISH with the identifier 0', connected(publish(2, topic, uint16(0), payload)), closed],
  ['2.3.1-1', 'SUBSCRIBE with the identifier 0', connected(packet(0x82, uint16(0), text('a'), 0)), closed],
  ['2.3.1-1', 'UNSUBSCRIBE with the identifier 0', connected(packet(0xa2, uint16(0), text('a'))), closed],
  ['2.3.1-1', 'PUBREL with the identifier 0', connected(packet(0x62, uint16(0))), closed],
  // What would be the identifier is the payload.
  ['2.3.1-5', 'QoS 0 has no identifier', connected(publish(0, topic, uint16(7), payload)), open],
  [
    '2.3.1-6 4.3.2-2 3.3.4-1',
    'PUBACK has the identifier',
    connected(publish(2, topic, uint16(0x1234), payload)),
    [accepted, 'puback 4660', kept],
  ],
  ['3.1.0-1', 'PUBLISH before CONNECT', [publish(0, topic, payload)], []],
  ['3.1.0-1', 'PINGREQ before CONNECT', [], []],
  ['3.1.0-2', 'a second CONNECT', connected(connect(4)), closed],
  ['3.1.2-1', 'another protocol', other({ name: 'HTTP' }), []],
  ['3.1.2-2 3.2.2-5', 'MQTT 3.1', [connect(3, { name: 'MQIsdp' })], refused(1)],
  ['3.1.2-2 3.2.2-5', 'level 3', [connect(3)], refused(1)],
  ['3.1.2-3', 'the reserved flag', other({ flags: 0xc3 }), []],
  ['3.1.2-4 3.2.2-3', 'a session that is to be kept is a new one', other({ flags: 0xc0 }), open],
  ['3.1.2-6 3.2.2-1 3.1.4-3 3.1.4-4 3.2.0-1', 'a clean session', connected(), open],
  ['3.1.2-8 3.1.2-9', 'a will', other({ flags: 0xee, payload: [clientId, ...will, ...credential] }), open],
  ['3.1.2-9', 'a will flag without a will', other({ flags: 0xc6 }), []],
  ['3.1.2-11 3.1.2-13', 'a will QoS without a will', other({ flags: 0xca }), []],
  ['3.1.2-11', 'a will without its flag', other({ payload: [clientId, ...will, ...credential] }), []],
  ['3.1.2-14', 'will QoS 3', other({ flags: 0xde, payload: [clientId, ...will, ...credential] }), []],
  ['3.1.2-11 3.1.2-15', 'will retain without a will', other({ flags: 0xe2 }), []],
  ['3.1.2-18 3.1.2-20', 'a user name and a password without their flags', other({ flags: 0x02 }), []],
  ['3.1.2-19', 'no user name', other({ flags: 0x82, payload: [clientId] }), []],
  ['3.1.2-20', 'a password without its flag', other({ flags: 0x82 }), []],
  ['3.1.2-21', 'no password', other({ flags: 0xc2, payload: [clientId, text('porch')] }), []],
  ['3.1.2-22', 'a password without a user name', other({ flags: 0x42, payload: [clientId, text('x')] }), []],
  ['3.1.3-1 3.1.3-3', 'no client identifier', other({ flags: 0x02, payload: [] }), []],
  ['3.1.3-5', '23 letters', other({ payload: [text('0123456789abcABCxyzXYZ0'), ...credential] }), open],
  ['3.1.3-6 3.1.3-7', 'an empty client identifier', other({ payload: [text(''), ...credential] }), open],
  ['3.1.3-8 3.2.2-4', 'one of a kept session', other({ flags: 0xc0, payload: [text(''), ...credential] }), refused(2)],
  ['3.1.3-9', 'a long client identifier', other({ payload: [text('a'.repeat(257)), ...credential] }), refused(2)],
  ['3.1.4-1 3.2.2-6', 'bytes behind the password', other({ payload: [clientId, ...credential, text('')] }), []],
  [
    '3.1.4-5',
    'what follows a refused CONNECT',
    other({ payload: [clientId, text('porch'), text('no')] }, publish(2, topic, uint16(1), payload)),
    refused(4),
  ],
  ['3.3.1-2 4.3.1-1', 'DUP at QoS 0', connected(publish(8, topic, payload)), closed],
  ['3.3.1-1', 'DUP at QoS 1', connected(publish(10, topic, uint16(3), payload)), [accepted, 'puback 3', kept]],
  ['3.3.1-4', 'QoS 3', connected(publish(6, topic, uint16(1), payload)), closed],
  ['3.3.1-5 3.3.1-12', 'RETAIN', connected(publish(3, topic, uint16(3), payload)), [accepted, 'puback 3', kept]],
  ['3.3.2-1', 'the topic name ends behind the packet', connected(packet(0x30, uint16(9), 0x61)), closed],
  ['3.3.2-2 4.7.1-1', 'a topic name with #', connected(publish(2, text('readings/#'), uint16(1))), closed],
  ['3.3.2-2 4.7.1-1', 'a topic name with +', connected(publish(0, text('readings/+'), payload)), closed],
  [
    '3.3.5-2',
    'a topic that is not authorized',
    connected(publish(2, text('readings/barn'), uint16(1), payload)),
    closed,
  ],
  ['3.8.3-2', 'wildcards are refused', connected(subscribe(text('a/+/#'), 0)), [accepted, 'suback 9 0x80', kept]],
  ['3.8.3-3', 'SUBSCRIBE without a topic filter', connected(subscribe()), closed],
  ['3.8.3-4', 'SUBSCRIBE with QoS 3', connected(subscribe(text('a'), 3)), closed],
  ['3.8.3-4', 'SUBSCRIBE with a reserved bit', connected(subscribe(text('a'), 4)), closed],
  ['3.8.3-3', 'SUBSCRIBE without a QoS', connected(subscribe(text('a'))), closed],
  [
    '3.8.4-1 3.8.4-2 3.8.4-4 3.8.4-5 3.9.3-1 3.9.3-2 2.3.1-7',
    'two topic filters',
    connected(subscribe(text('a'), 0, text('b'), 2)),
    [accepted, 'suback 9 0x80 0x80', kept],
  ],
  ['3.10.3-2', 'UNSUBSCRIBE without a topic filter', connected(unsubscribe()), closed],
  [
    '3.10.4-4 3.10.4-5 3.10.4-6 2.3.1-7',
    'UNSUBSCRIBE of what there is not',
    connected(unsubscribe(text('a'), text('b'))),
    [accepted, 'unsuback 9', kept],
  ],
  ['3.12.4-1', 'PINGREQ', connected(), open],
  ['4.8.0-1', 'PINGREQ with a body', connected(packet(0xc0, 0)), closed],
  ['4.8.0-1', 'DISCONNECT with a body', connected(packet(0xe0, 0)), closed],
  ['4.8.0-1', 'PUBREL with a body', connected(packet(0x62, uint16(1), 0)), closed],
  ['4.8.0-1', 'PUBACK of nothing', connected(packet(0x40, uint16(1))), closed],
  ['4.8.0-1', 'CONNACK', connected(packet(0x20, 0, 0)), closed],
  ['4.8.0-1', 'type 0', connected(packet(0x00)), closed],
  ['4.8.0-1', 'type 15', connected(packet(0xf0)), closed],
  ['4.8.0-1', 'a length of five bytes', connected(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0])), closed],
  ['3.14.4-2', 'what follows DISCONNECT', connected(packet(0xe0), publish(2, topic, uint16(1), payload)), closed],
  [
    '4.3.3-2',
    'QoS 2 twice is one message',
    connected(publish(4, topic, uint16(5), payload), publish(12, topic, uint16(5), payload)),
    [accepted, 'pubrec 5', 'pubrec 5', kept],
  ],
  [
    '4.6.0-2',
    'acknowledgements in the order of the messages',
    connected(...[3, 1, 2].map(id => publish(2, topic, uint16(id), payload))),
    [accepted, 'puback 3', 'puback 1', 'puback 2', kept],
  ],
  ...(['a#', 'a/#/b', '#/', 'a/b#'] as const).map((filter): Row => {
    return ['4.7.1-2 4.8.0-1', `the filter ${filter}`, connected(subscribe(text(filter), 0)), closed]
  }),
  ...(['a+', '+a/b', 'a/+b'] as const).map((filter): Row => {
    return ['4.7.1-3 4.8.0-1', `the filter ${filter}`, connected(unsubscribe(text(filter))), closed]
  }),
  ...(['#', '+', 'a/#', '+/a/+', '/+', '/'] as const).map((filter): Row => {
    const answers = [accepted, 'suback 9 0x80', kept]
    return ['4.7.1-2 4.7.1-3', `the filter ${filter}`, connected(subscribe(text(filter), 0)), answers]
  }),
  ['4.7.3-1', 'an empty topic name', connected(publish(2, text(''), uint16(1), payload)), closed],
  ['4.7.3-1', 'an empty topic filter', connected(subscribe(text(''), 0)), closed],
  ['4.7.3-1', 'an empty topic filter', connected(unsubscribe(text(''))), closed],
]

function flagged(whole: Buffer, first: number): Buffer {
  return Buffer.concat([Buffer.from([first]), whole.subarray(1)])
}

function ofType(first: number): Buffer {
  const bodies: Record<number, (Buffer | number)[]> = {
    6: [uint16(1)],
    8: [uint16(1), text('a'), 0],
    10: [uint16(1), text('a')],
  }
  return packet(first, ...(bodies[first >> 4] ?? []))
}

/** The numbers of the statements by section. */
const sections: Statements['sections'] = {
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
}

/** Why no row is about a statement. */
const withoutRow: [why: string, statements: string][] = [
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
  ['session.test.ts: the keep-kept', '3.1.2-24'],
  ['two bytes hold no longer length', '4.7.3-3'],
  ['there are no WebSockets', '6.0.0-1 6.0.0-2 6.0.0-3 6.0.0-4'],
]

test('each normative statement of MQTT 3.1.1', async t => {
  const { url, journal } = await startListener(t)
  for (const [ids, what, sent, answers] of rows) {
    t.strictSame(await exchange(t, url, 4, { sent, answers }), answers, `${ids}: ${what}`)
  }
  const acknowledged = rows.flatMap(([, , , answers]) => answers.filter(answer => answer.startsWith('puback')))
  t.equal(journal.stored.length, acknowledged.length + 1, 'and one of QoS 2')
})

test('none is left out', async t => checkStatements(t, { sections, rows, withoutRow }))
