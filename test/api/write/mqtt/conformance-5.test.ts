/**
 * The normative statements of MQTT 5 (OASIS standard, appendix B), each with what a client sends and what comes back, or with
 * the reason why there is nothing to send.
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
  properties,
  text,
  uint16,
  uint32,
} from '../../../support/mqtt-bytes.ts'
import { checkStatements, type Statements } from '../../../support/statements.ts'

type Row = [statements: string, what: string, sent: Buffer[], answers: string[]]
type Part = Buffer | number

const accepted = 'connack'
const open = [accepted, kept]
const closed = (code: string) => [accepted, `disconnect 0x${code}`]
const refused = (code: string) => [`connack 0x${code}`]
const stored = (id: number) => [accepted, `puback ${id}`, kept]
const wrong = Buffer.from([0xc3, 0x28])
const none = Buffer.from('a\0b')
const own = 'readings/porch'
const payload = Buffer.from(reading(1))
const clientId = text('id')

const connected = (...packets: Buffer[]) => [connect(5), ...packets]
const other = (parts: ConnectParts, ...packets: Buffer[]) => [connect(5, parts), ...packets]
const asking = (...parts: Part[]) => other({ properties: properties(...parts) })
const withWill = (flags: number, ...will: Buffer[]) =>
  other({ flags: 0xc2 | flags, payload: [clientId, ...will, ...credential] })
const noProperties = properties()
const will = [noProperties, text('a'), text('gone')]
const user = (name: string | Buffer, value: string | Buffer) =>
  Buffer.concat([Buffer.from([0x26]), text(name), text(value)])

/** At QoS 1, unless the flags say otherwise. */
function publish(
  topic: string | Buffer,
  { flags = 2, id = 1, section = noProperties, content = payload } = {},
): Buffer {
  const identifier = flags & 6 ? [uint16(id)] : []
  return packet(0x30 | flags, text(topic), ...identifier, section, content)
}
const publishWith = (...parts: Part[]) => publish(own, { section: properties(...parts) })
const alias = (number: number) => properties(0x23, uint16(number))
const subscribe = (...parts: Part[]) => packet(0x82, uint16(9), noProperties, ...parts)
const unsubscribe = (...parts: Part[]) => packet(0xa2, uint16(9), noProperties, ...parts)

const rows: Row[] = [
  ['1.5.4-1 3.1.3-4 3.14.0-1', 'client identifier', other({ payload: [text(wrong), ...credential] }), refused('81')],
  ['1.5.4-1 3.1.3-12', 'user name', other({ payload: [clientId, text(wrong), text('x')] }), refused('81')],
  ['1.5.4-1 3.1.3-11', 'will topic', withWill(4, noProperties, text(wrong), text('x')), refused('81')],
  ['1.5.4-1 3.3.2-1', 'topic name', connected(publish(wrong)), closed('81')],
  ['1.5.4-1 3.3.2-13', 'response topic', connected(publishWith(8, text(wrong))), closed('81')],
  ['1.5.4-1 3.3.2-19', 'content type', connected(publishWith(3, text(wrong))), closed('81')],
  ['1.5.4-1 1.5.7-1', 'user property', connected(publishWith(user('a', wrong))), closed('81')],
  ['1.5.4-1 1.5.7-1', 'user property', asking(user(wrong, 'a')), refused('81')],
  ['1.5.4-1 3.8.3-1', 'topic filter', connected(subscribe(text(wrong), 0)), closed('81')],
  ['1.5.4-1 3.10.3-1', 'topic filter', connected(unsubscribe(text(wrong))), closed('81')],
  ['1.5.4-2 4.7.3-2', 'null character of a topic', connected(publish(none)), closed('81')],
  ['1.5.4-2', 'null character of a user property', connected(publishWith(user(none, 'a'))), closed('81')],
  ['1.5.4-3', 'a byte order mark stays', connected(publish(`\ufeff${own}`)), [accepted, 'puback 1 0x90', kept]],
  ['1.5.5-1', 'a length in two bytes', connected(Buffer.from([0xc0, 0x80, 0])), closed('81')],
  [
    '1.5.5-1',
    'a length of properties in two bytes',
    connected(publish(own, { section: Buffer.from([0x80, 0]) })),
    closed('81'),
  ],
  [
    '1.5.5-1',
    'a length of properties in five bytes',
    connected(publish(own, { section: Buffer.alloc(5, 0xff) })),
    closed('81'),
  ],
  ...([0x60, 0x66, 0x80, 0x8a, 0xa0, 0xaa, 0xc1, 0xe1, 0xf1] as const).map((first): Row => {
    return ['2.1.3-1 3.6.1-1 3.8.1-1 3.10.1-1 3.14.1-1 3.15.1-1', `${first}`, connected(ofType(first)), closed('81')]
  }),
  ['2.2.1-2', 'QoS 0 has no identifier', connected(publish(own, { flags: 0 })), open],
  ['2.2.1-3', 'PUBLISH 0', connected(publish(own, { id: 0 })), closed('81')],
  ['2.2.1-3', 'SUBSCRIBE 0', connected(packet(0x82, uint16(0), noProperties, text('a'), 0)), closed('81')],
  ['2.2.1-3', 'UNSUBSCRIBE 0', connected(packet(0xa2, uint16(0), noProperties, text('a'))), closed('81')],
  ['2.2.1-5 3.3.4-1 4.3.2-4', 'PUBACK', connected(publish(own, { id: 0x1234 })), stored(0x1234)],
  ['2.2.2-1', 'no length of properties', connected(packet(0x32, text(own), uint16(1))), closed('81')],
  ['3.1.0-1', 'PUBLISH before CONNECT', [publish(own)], []],
  ['3.1.0-2', 'a second CONNECT', connected(connect(5)), closed('82')],
  ['3.1.2-1', 'another protocol', other({ name: 'HTTP' }), []],
  ['3.1.2-2', 'version 6', [connect(6)], refused('84')],
  ['3.1.2-3', 'the reserved flag', other({ flags: 0xc3 }), refused('81')],
  ['3.1.2-4 3.2.2-2 3.2.2-1 3.1.4-4 3.1.4-5 3.2.0-1 3.2.0-2', 'clean start', connected(), open],
  ['3.1.2-6 3.2.2-3', 'no clean start', other({ flags: 0xc0 }), open],
  ['3.1.2-7 3.1.2-9 3.2.2-12', 'a will of QoS 2', withWill(0x14, ...will), open],
  ['3.1.2-9', 'a will flag without a will', other({ flags: 0xc6 }), refused('81')],
  ['3.1.2-11', 'a will QoS without a will', other({ flags: 0xca }), refused('81')],
  ['3.1.2-12', 'will QoS 3', withWill(0x1c, ...will), refused('81')],
  ['3.1.2-13', 'will retain without a will', other({ flags: 0xe2 }), refused('81')],
  ['3.1.2-16 3.1.2-18', 'fields without their flags', other({ flags: 2 }), refused('81')],
  ['3.1.2-17', 'no user name', other({ flags: 0x82, payload: [clientId] }), refused('81')],
  ['3.1.2-18', 'a password without its flag', other({ flags: 0x82 }), refused('81')],
  ['3.1.2-19', 'no password', other({ payload: [clientId, text('porch')] }), refused('81')],
  ['3.1.2-28', 'response information is asked for', asking(0x19, 1), open],
  ['3.1.3-1 3.1.3-3', 'no payload', other({ flags: 2, payload: [] }), refused('81')],
  ['3.1.3-5', '23 letters', other({ payload: [text('0123456789abcABCxyzXYZ0'), ...credential] }), open],
  ['3.1.3-6', 'no client identifier, no clean start', other({ flags: 0xc0, payload: [text(''), ...credential] }), open],
  ['3.1.3-8', 'a long client identifier', other({ payload: [text('a'.repeat(257)), ...credential] }), refused('85')],
  ['3.1.4-1', 'bytes behind the password', other({ payload: [clientId, ...credential, text('')] }), refused('81')],
  [
    '3.1.4-2 3.1.4-6 3.2.2-6 3.2.2-7',
    'a wrong password, and a message',
    other({ payload: [clientId, text('porch'), text('no')] }, publish(own)),
    refused('86'),
  ],
  ['3.2.2-13', 'a retained will', withWill(0x24, ...will), refused('9a')],
  ['3.2.2-14', 'a retained message', connected(publish(own, { flags: 3 })), closed('9a')],
  ['3.2.2-15', 'a large message', connected(publish(own, { content: Buffer.alloc(66_600) })), closed('95')],
  ['3.2.2-15', 'a large CONNECT', asking(user('a', Buffer.alloc(9000, 'a'))), []],
  ['3.2.2-17 3.3.2-9', 'topic alias 101', connected(publish(own, { section: alias(101) })), closed('94')],
  ['3.3.1-1', 'DUP', connected(publish(own, { flags: 10 })), stored(1)],
  ['3.3.1-2 4.3.1-1', 'DUP at QoS 0', connected(publish(own, { flags: 8 })), closed('81')],
  ['3.3.1-4', 'QoS 3', connected(publish(own, { flags: 6 })), closed('81')],
  ['3.3.2-2 4.7.0-1', 'a topic name with #', connected(publish('readings/#')), closed('90')],
  ['3.3.2-2 4.7.0-1', 'a will topic with +', withWill(4, noProperties, text('+'), text('x')), refused('90')],
  ['3.3.2-8', 'topic alias 0', connected(publish(own, { section: alias(0) })), closed('94')],
  [
    '3.3.2-12',
    'topic alias 100, and the message after it',
    connected(publish(own, { section: alias(100) }), publish('', { section: alias(100), id: 2 })),
    [accepted, 'puback 1', 'puback 2', kept],
  ],
  ['3.3.2-7', 'the topic alias of another connection', connected(publish('', { section: alias(100) })), closed('82')],
  ['3.3.2-14', 'a response topic with a wildcard', connected(publishWith(8, text('a/+'))), closed('82')],
  [
    '3.3.2-4 3.3.2-5 3.3.2-15 3.3.2-16 3.3.2-17 3.3.2-20',
    'properties for subscribers are taken and not used',
    connected(
      publishWith(1, 1, 2, uint32(60), 3, text('application/json'), 8, text('a'), 9, text('b'), user('c', 'd')),
    ),
    stored(1),
  ],
  ['3.3.4-6', 'a subscription identifier', connected(publishWith(0x0b, 1)), closed('82')],
  [
    '3.4.2-1',
    'PUBACK of a topic that is not authorized',
    connected(publish('readings/barn')),
    [accepted, 'puback 1 0x87', kept],
  ],
  ['3.4.2-1', 'PUBACK of another topic', connected(publish('elsewhere')), [accepted, 'puback 1 0x90', kept]],
  ['3.4.2-1', 'PUBACK of no JSON', connected(publish(own, { content: wrong })), [accepted, 'puback 1 0x99', kept]],
  [
    '3.5.2-1 4.3.3-9',
    'PUBREC of an error, and another message with the identifier',
    connected(
      publish(own, { flags: 4, content: wrong }),
      packet(0x62, uint16(1)),
      publish(own, { flags: 4, content: wrong }),
    ),
    [accepted, 'pubrec 1 0x99', 'pubcomp 1 0x92', 'pubrec 1 0x99', kept],
  ],
  ['3.6.2-1', 'PUBREL with a reason', connected(packet(0x62, uint16(1), 0x92)), [accepted, 'pubcomp 1 0x92', kept]],
  [
    '3.7.2-1',
    'PUBREL of nothing, with properties',
    connected(packet(0x62, uint16(1), 0, properties(0x1f, text('why'), user('a', 'b')))),
    [accepted, 'pubcomp 1 0x92', kept],
  ],
  ['3.8.3-2', 'SUBSCRIBE without a topic filter', connected(subscribe()), closed('82')],
  ['3.8.3-4', 'No Local of a shared subscription', connected(subscribe(text('$share/a/b'), 4)), closed('82')],
  ['3.8.3-5', 'a reserved bit', connected(subscribe(text('a'), 0x40)), closed('81')],
  ['3.8.3-5', 'QoS 3', connected(subscribe(text('a'), 3)), closed('82')],
  ['3.8.3-5', 'retain handling 3', connected(subscribe(text('a'), 0x30)), closed('82')],
  [
    '3.8.4-1 3.8.4-2 3.8.4-5 3.8.4-6 3.8.4-7 3.9.3-1 3.9.3-2 2.2.1-6 3.2.2-10',
    'two topic filters',
    connected(subscribe(text('a'), 2, text('a#'), 0)),
    [accepted, 'suback 9 0x87 0x8f', kept],
  ],
  ['4.13.1-1', 'a wildcard', connected(subscribe(text('a/+'), 0)), closed('a2')],
  ['4.13.1-1 4.8.2-1 4.8.2-2', 'a shared subscription', connected(subscribe(text('$share/a/b'), 0)), closed('9e')],
  [
    '4.13.1-1',
    'a subscription identifier',
    connected(packet(0x82, uint16(9), properties(0x0b, 1), text('a'), 0)),
    closed('a1'),
  ],
  ['3.10.3-2', 'UNSUBSCRIBE without a topic filter', connected(unsubscribe()), closed('82')],
  [
    '3.10.4-4 3.10.4-5 3.10.4-6 3.11.3-1 3.11.3-2 2.2.1-6',
    'UNSUBSCRIBE of what there is not',
    connected(unsubscribe(text('a'), text('#/a'))),
    [accepted, 'unsuback 9 0x11 0x8f', kept],
  ],
  ['3.12.4-1', 'PINGREQ', connected(), open],
  ['4.13.1-1', 'PINGREQ with a body', connected(packet(0xc0, 0)), closed('81')],
  ['3.14.2-1 3.14.4-3', 'DISCONNECT with a reason', connected(packet(0xe0, 4)), [accepted]],
  ['3.14.4-1', 'what follows DISCONNECT', connected(packet(0xe0), publish(own)), [accepted]],
  [
    '3.14.2-2',
    'DISCONNECT that prolongs a session without expiry',
    connected(packet(0xe0, 0, properties(0x11, uint32(5)))),
    closed('82'),
  ],
  [
    '3.14.2-2',
    'DISCONNECT that prolongs a session with expiry',
    other({ properties: properties(0x11, uint32(5)) }, packet(0xe0, 0, properties(0x11, uint32(50)))),
    [accepted],
  ],
  ['4.12.0-7', 'AUTH without a method', connected(packet(0xf0, 0x18, noProperties)), closed('82')],
  ['4.12.0-1 3.1.2-30', 'an authentication method', asking(0x15, text('SCRAM-SHA-1')), refused('8c')],
  ['4.12.0-6', 'authentication data without a method', asking(0x16, text('a')), refused('82')],
  [
    '4.3.3-8 4.3.3-10 4.3.2-5',
    'QoS 2 twice is one message',
    connected(publish(own, { flags: 4 }), publish(own, { flags: 12 })),
    [accepted, 'pubrec 1', 'pubrec 1 0x91', kept],
  ],
  [
    '4.6.0-2',
    'acknowledgements in the order of the messages',
    connected(...[3, 1, 2].map(id => publish(own, { id }))),
    [accepted, 'puback 3', 'puback 1', 'puback 2', kept],
  ],
  ...(['a#', 'a/#/b', '#/', 'a+', '+a/b', ''] as const).map((filter): Row => {
    return [
      '4.7.1-1 4.7.1-2 4.7.3-1',
      `filter ${filter}`,
      connected(subscribe(text(filter), 0)),
      [accepted, 'suback 9 0x8f', kept],
    ]
  }),
  ['4.7.3-1', 'an empty topic name', connected(publish('')), closed('82')],
  ['4.7.3-1', 'an empty will topic', withWill(4, noProperties, text(''), text('x')), refused('90')],
  ['4.13.1-1', 'CONNACK', connected(packet(0x20, 0, 0, 0)), closed('82')],
  ['4.13.1-1', 'PUBACK of nothing', connected(packet(0x40, uint16(1))), closed('82')],
  ['4.13.1-1', 'type 0', connected(packet(0)), closed('82')],
  ['4.13.1-1', 'a length of five bytes', connected(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0])), closed('81')],
  // Section 2.2.2.2 and the definitions of the properties.
  ['4.13.1-1', 'an unknown property', connected(publishWith(0x7e, 0)), closed('81')],
  ['4.13.1-1', 'a property of another packet', connected(publishWith(0x21, uint16(5))), closed('81')],
  [
    '4.13.1-1',
    'a property beyond the length',
    connected(publish(own, { section: Buffer.from([2, 0x23, 0, 1]) })),
    closed('81'),
  ],
  ['4.13.1-1', 'properties beyond the packet', connected(packet(0x30, text(own), 0x7f)), closed('81')],
  ['4.13.1-1', 'a property twice', connected(publishWith(2, uint32(0), 2, uint32(0))), closed('82')],
  ['4.13.1-1', 'payload format 2', connected(publishWith(1, 2)), closed('82')],
  ['4.13.1-1', 'receive maximum 0', asking(0x21, uint16(0)), refused('82')],
  ['4.13.1-1', 'maximum packet size 0', asking(0x27, uint32(0)), refused('82')],
  ['4.13.1-1', 'request problem information 2', asking(0x17, 2), refused('82')],
  ['4.13.1-1', 'a will property in CONNECT', asking(0x18, uint32(5)), refused('81')],
  [
    '4.13.1-1',
    'an unknown property of the will',
    withWill(4, properties(0x21, uint16(5)), text('a'), text('x')),
    refused('81'),
  ],
  [
    '4.13.1-1',
    'bytes behind the properties of PUBREL',
    connected(packet(0x62, uint16(1), 0, noProperties, 0)),
    closed('81'),
  ],
  [
    '4.13.2-1',
    '101 user properties',
    connected(publishWith(...Array.from({ length: 101 }, () => user('', '')))),
    closed('97'),
  ],
  [
    '4.13.2-1',
    '101 topic filters',
    connected(subscribe(...Array.from({ length: 101 }, () => [text('a'), 0]).flat())),
    closed('97'),
  ],
]

function ofType(first: number): Buffer {
  const bodies: Record<number, Part[]> = {
    6: [uint16(1)],
    8: [uint16(1), noProperties, text('a'), 0],
    10: [uint16(1), noProperties, text('a')],
  }
  return packet(first, ...(bodies[first >> 4] ?? []))
}

/** The numbers of the statements by section. */
const sections: Statements['sections'] = {
  '1.5.4': [1, 3],
  '1.5.5': [1, 1],
  '1.5.7': [1, 1],
  '2.1.3': [1, 1],
  '2.2.1': [2, 6],
  '2.2.2': [1, 1],
  '3.1.0': [1, 2],
  '3.1.2': [1, 30],
  '3.1.3': [1, 9],
  // There is no 3.1.3-10.
  '3.1.3 b': [11, 12],
  '3.1.4': [1, 6],
  '3.2.0': [1, 2],
  '3.2.2': [1, 22],
  '3.3.1': [1, 13],
  '3.3.2': [1, 20],
  '3.3.4': [1, 10],
  '3.4.2': [1, 3],
  '3.5.2': [1, 3],
  '3.6.1': [1, 1],
  '3.6.2': [1, 3],
  '3.7.2': [1, 3],
  '3.8.1': [1, 1],
  '3.8.3': [1, 5],
  '3.8.4': [1, 8],
  '3.9.2': [1, 2],
  '3.9.3': [1, 2],
  '3.10.1': [1, 1],
  '3.10.3': [1, 2],
  '3.10.4': [1, 6],
  '3.11.2': [1, 2],
  '3.11.3': [1, 2],
  '3.12.4': [1, 1],
  '3.14.0': [1, 1],
  '3.14.1': [1, 1],
  '3.14.2': [1, 4],
  '3.14.4': [1, 3],
  '3.15.1': [1, 1],
  '3.15.2': [1, 3],
  '4.1.0': [1, 2],
  '4.3.1': [1, 1],
  '4.3.2': [1, 5],
  '4.3.3': [1, 13],
  '4.4.0': [1, 2],
  '4.5.0': [1, 2],
  '4.6.0': [1, 6],
  '4.7.0': [1, 1],
  '4.7.1': [1, 2],
  '4.7.2': [1, 1],
  '4.7.3': [1, 4],
  '4.8.2': [1, 6],
  '4.9.0': [1, 3],
  '4.12.0': [1, 7],
  '4.12.1': [1, 2],
  '4.13.1': [1, 1],
  '4.13.2': [1, 1],
  '6.0.0': [1, 4],
}

/** Why no row is about a statement. */
const withoutRow: [why: string, statements: string][] = [
  ['rules for clients', '3.1.2-20 3.1.2-21 3.2.2-4 3.2.2-5 3.2.2-11 3.2.2-18 3.2.2-21 3.3.2-10 3.3.4-8 3.14.4-2'],
  ['rules for clients', '4.3.2-1 4.3.2-2 4.3.2-3 4.3.3-1 4.3.3-2 4.3.3-3 4.3.3-4 4.3.3-5 4.3.3-6 4.3.3-7'],
  ['rules for clients', '4.4.0-1 4.4.0-2 4.5.0-2 4.6.0-1 4.6.0-3 4.6.0-4 3.6.2-2 3.6.2-3 4.12.0-3'],
  ['nothing is delivered to clients', '2.2.1-4 3.1.2-26 3.1.2-27 3.3.1-3 3.3.1-9 3.3.1-10 3.3.1-11 3.3.1-12 3.3.1-13'],
  ['nothing is delivered to clients', '3.3.2-3 3.3.2-6 3.3.2-11 3.3.2-18 3.3.4-2 3.3.4-3 3.3.4-4 3.3.4-5 3.3.4-9'],
  ['nothing is delivered to clients', '3.3.4-10 3.8.3-3 3.8.4-3 3.8.4-4 3.8.4-8 3.10.4-1 3.10.4-2 3.10.4-3 4.3.3-13'],
  ['nothing is delivered to clients', '4.5.0-1 4.6.0-5 4.6.0-6 4.7.2-1 4.7.3-4 4.8.2-3 4.8.2-4 4.8.2-5 4.8.2-6'],
  ['no message is retained', '3.3.1-5 3.3.1-6 3.3.1-7 3.3.1-8'],
  ['no will is published', '3.1.2-8 3.1.2-10 3.1.2-14 3.1.2-15 3.1.3-9'],
  ['a session ends with its connection', '3.1.2-5 3.1.2-23 4.1.0-1 4.1.0-2'],
  ['there is no enhanced authentication', '3.15.2-1 3.15.2-2 3.15.2-3 4.12.0-2 4.12.0-4 4.12.0-5 4.12.1-1 4.12.1-2'],
  ['QoS 2 is taken', '3.2.2-9'],
  ['user properties are not sent', '3.2.2-20 3.4.2-3 3.5.2-3 3.7.2-3 3.9.2-2 3.11.2-2 3.14.2-4'],
  ['reasons in words are not sent there', '3.7.2-2 3.9.2-1 3.11.2-1'],
  ['version-5.test.ts: what the client asks for', '3.1.2-24 3.1.2-25 3.1.2-29 3.2.2-19 3.4.2-2 3.5.2-2 3.14.2-3'],
  ['version-5.test.ts: the answer to CONNECT', '3.1.3-7 3.2.2-16 3.2.2-22 3.2.2-8'],
  ['version-5.test.ts: the receive maximum', '3.3.4-7 4.9.0-1 4.9.0-2 4.9.0-3'],
  ['version-5.test.ts: the connection ends', '3.1.4-3'],
  ['version-5.test.ts: QoS 2', '4.3.3-11 4.3.3-12'],
  ['listener.test.ts: of two clients of one name the later one stays', '3.1.3-2'],
  ['session.test.ts: the keep-alive', '3.1.2-22'],
  ['two bytes hold no longer length', '4.7.3-3'],
  ['there are no WebSockets', '6.0.0-1 6.0.0-2 6.0.0-3 6.0.0-4'],
]

test('each normative statement of MQTT 5', async t => {
  const { url, journal } = await startListener(t)
  for (const [ids, what, sent, answers] of rows) {
    t.strictSame(await exchange(t, url, 5, { sent, answers }), answers, `${ids}: ${what}`)
  }
  const acknowledged = rows.flatMap(([, , , answers]) => answers.filter(answer => /^puback \d+$/.test(answer)))
  t.equal(journal.stored.length, acknowledged.length + 2, 'and one of QoS 0, and one of QoS 2')
})

test('none is left out', async t => checkStatements(t, { sections, rows, withoutRow }))
