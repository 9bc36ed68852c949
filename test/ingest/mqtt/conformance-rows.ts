/** The rows of the conformance to MQTT: the packets that a client of a version sends, and the answers. */

import {
  type ConnectParts,
  connect,
  credential,
  kept,
  type Part,
  type PublishParts,
  packet,
  properties,
  publish,
  text,
  uint16,
  uint32,
} from './mqtt-bytes.ts'

type Packets = ReturnType<typeof packetsOf>

/** A row has a text, the packets that a client sends, and the answers. */
export type Row = [what: string, sent: Buffer[], answers: string[]]

type Answers = [of311: string[], of5: string[]]

/** Both versions get the same packets, and each has answers of its own. */
type SharedRow = [what: string, sent: (of: Packets) => Buffer[], ...Answers]

const accepted = 'connack'
const open = [accepted, kept]
/** The connection stays. */
const goes = (...answers: string[]) => [accepted, ...answers, kept]
const stored = (id: number) => goes(`puback ${id}`)
const refused = (code: string) => [`connack 0x${code}`]
/** The connection ends after the CONNACK. MQTT 5 gives the reason. */
const closed = [accepted]
const ends = (code: string) => [accepted, `disconnect 0x${code}`]
const malformed: Answers = [closed, ends('81')]
const protocolError: Answers = [closed, ends('82')]
const badConnect: Answers = [[], refused('81')]
const wrong = Buffer.from([0xc3, 0x28])
const surrogate = Buffer.from([0xed, 0xa0, 0x80])
const none = Buffer.from('a\0b')
const clientId = text('id')
const own = text('readings/porch')
const user = (name: string | Buffer, value: string | Buffer) =>
  Buffer.concat([Buffer.from([0x26]), text(name), text(value)])

/** The packets of a version: most of MQTT 5 have properties. */
export function packetsOf(level: 4 | 5) {
  const section = level === 5 ? [properties()] : []
  const ofClient = (parts: ConnectParts, ...packets: Buffer[]) => [connect(level, parts), ...packets]
  return {
    section,
    ofClient,
    client: (...payload: Buffer[]) => ofClient({ payload }),
    connected: (...packets: Buffer[]) => ofClient({}, ...packets),
    withWill: (flags: number, topic: string | Buffer, message: string, willSection = section) =>
      ofClient({
        flags: 0xc2 | flags,
        payload: [clientId, ...willSection, text(topic), text(message), ...credential],
      }),
    publish: (parts: PublishParts = {}) => publish(level, parts),
    subscribe: (...parts: Part[]) => packet(0x82, uint16(9), ...section, ...parts),
    unsubscribe: (...parts: Part[]) => packet(0xa2, uint16(9), ...section, ...parts),
    ofType(first: number): Buffer {
      const bodies: Record<number, Part[]> = {
        6: [uint16(1)],
        8: [uint16(1), ...section, text('a'), 0],
        10: [uint16(1), ...section, text('a')],
      }
      return packet(first, ...(bodies[first >> 4] ?? []))
    },
  }
}

/** Rows of both versions. */
export const sharedRows: SharedRow[] = [
  ['a client identifier is not UTF-8', of => of.client(text(wrong), ...credential), ...badConnect],
  ['a user name is not UTF-8', of => of.client(clientId, text(wrong), text('x')), ...badConnect],
  ['a will topic is not UTF-8', of => of.withWill(4, wrong, 'x'), ...badConnect],
  ['a topic name is not UTF-8', of => of.connected(of.publish({ topic: wrong })), ...malformed],
  ['a topic filter of SUBSCRIBE is not UTF-8', of => of.connected(of.subscribe(text(wrong), 0)), ...malformed],
  ['a filter of UNSUBSCRIBE is not UTF-8', of => of.connected(of.unsubscribe(text(wrong))), ...malformed],
  ['a topic name has a null character', of => of.connected(of.publish({ topic: none })), ...malformed],
  [
    // Stripped off, it would be the topic of the device.
    'a byte order mark stays',
    of => of.connected(of.publish({ topic: '\ufeffreadings/porch' })),
    closed,
    goes('puback 1 0x90'),
  ],
  ...[0x60, 0x66, 0x80, 0x8a, 0xa0, 0xaa, 0xc1, 0xe1].map((first): SharedRow => {
    return [`first byte ${first}`, of => of.connected(of.ofType(first)), ...malformed]
  }),
  ['PUBLISH 0', of => of.connected(of.publish({ id: 0 })), ...malformed],
  ['SUBSCRIBE 0', of => of.connected(packet(0x82, uint16(0), ...of.section, text('a'), 0)), ...malformed],
  ['UNSUBSCRIBE 0', of => of.connected(packet(0xa2, uint16(0), ...of.section, text('a'))), ...malformed],
  ['PUBACK has the identifier', of => of.connected(of.publish({ id: 0x1234 })), stored(0x1234), stored(0x1234)],
  ['PUBLISH before CONNECT', of => [of.publish()], [], []],
  ['a second CONNECT', of => [...of.connected(), ...of.connected()], ...protocolError],
  ['another protocol', of => of.ofClient({ name: 'HTTP' }), [], []],
  ['the reserved flag', of => of.ofClient({ flags: 0xc3 }), ...badConnect],
  ['a session that is to be kept is a new one', of => of.ofClient({ flags: 0xc0 }), open, open],
  ['a clean session', of => of.connected(), open, open],
  ['a will flag without a will', of => of.ofClient({ flags: 0xc6 }), ...badConnect],
  ['a will QoS without a will', of => of.ofClient({ flags: 0xca }), ...badConnect],
  ['will QoS 3', of => of.withWill(0x1c, 'a', 'gone'), ...badConnect],
  ['will retain without a will', of => of.ofClient({ flags: 0xe2 }), ...badConnect],
  ['a user name and a password without their flags', of => of.ofClient({ flags: 0x02 }), ...badConnect],
  ['no user name', of => of.ofClient({ flags: 0x82, payload: [clientId] }), ...badConnect],
  ['a password without its flag', of => of.ofClient({ flags: 0x82 }), ...badConnect],
  ['no password', of => of.client(clientId, text('porch')), ...badConnect],
  ['no client identifier', of => of.ofClient({ flags: 0x02, payload: [] }), ...badConnect],
  ['23 letters', of => of.client(text('0123456789abcABCxyzXYZ0'), ...credential), open, open],
  [
    'kept without an identifier',
    of => of.ofClient({ flags: 0xc0, payload: [text(''), ...credential] }),
    refused('2'),
    open,
  ],
  ['a long client identifier', of => of.client(text('a'.repeat(257)), ...credential), refused('2'), refused('85')],
  ['bytes behind the password', of => of.client(clientId, ...credential, text('')), ...badConnect],
  [
    'what follows a refused CONNECT',
    of => of.ofClient({ payload: [clientId, text('porch'), text('no')] }, of.publish()),
    refused('4'),
    refused('86'),
  ],
  ['DUP at QoS 0', of => of.connected(of.publish({ qos: 0, dup: true })), ...malformed],
  ['DUP at QoS 1', of => of.connected(of.publish({ id: 3, dup: true })), stored(3), stored(3)],
  ['QoS 3', of => of.connected(of.publish({ qos: 3 })), ...malformed],
  ['RETAIN', of => of.connected(of.publish({ id: 3, retain: true })), stored(3), ends('9a')],
  ['a topic name with #', of => of.connected(of.publish({ topic: 'readings/#' })), closed, ends('90')],
  ['a topic of others', of => of.connected(of.publish({ topic: 'readings/barn' })), closed, goes('puback 1 0x87')],
  ['wildcards are refused', of => of.connected(of.subscribe(text('a/+/#'), 0)), goes('suback 9 0x80'), ends('a2')],
  ['SUBSCRIBE without a topic filter', of => of.connected(of.subscribe()), ...protocolError],
  ['SUBSCRIBE with QoS 3', of => of.connected(of.subscribe(text('a'), 3)), ...protocolError],
  ['UNSUBSCRIBE without a topic filter', of => of.connected(of.unsubscribe()), ...protocolError],
  ['PINGREQ', of => of.connected(), open, open],
  ['PINGREQ with a body', of => of.connected(packet(0xc0, 0)), ...malformed],
  ['PUBACK of nothing', of => of.connected(packet(0x40, uint16(1))), ...protocolError],
  ['CONNACK', of => of.connected(packet(0x20, 0, 0, ...of.section)), ...protocolError],
  ['type 0', of => of.connected(packet(0)), ...protocolError],
  ['a length of five bytes', of => of.connected(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0])), ...malformed],
  ['what follows DISCONNECT', of => of.connected(packet(0xe0), of.publish()), closed, closed],
  [
    'QoS 2 twice is one message',
    of => of.connected(of.publish({ qos: 2, id: 5 }), of.publish({ qos: 2, id: 5, dup: true })),
    goes('pubrec 5', 'pubrec 5'),
    goes('pubrec 5', 'pubrec 5 0x91'),
  ],
  [
    'PUBACK in order',
    of => of.connected(...[3, 1, 2].map(id => of.publish({ id }))),
    goes('puback 3', 'puback 1', 'puback 2'),
    goes('puback 3', 'puback 1', 'puback 2'),
  ],
  ...['a#', 'a/#/b', '#/', 'a/b#', 'a+', '+a/b', 'a/+b', ''].map((filter): SharedRow => {
    return [`the filter ${filter}`, of => of.connected(of.subscribe(text(filter), 0)), closed, goes('suback 9 0x8f')]
  }),
  ['an empty topic name', of => of.connected(of.publish({ topic: '' })), ...protocolError],
]

const withFirst = (first: number) => Buffer.concat([Buffer.from([first]), connect(4).subarray(1)])

/** The rows of MQTT 3.1.1 alone. */
export const rowsOf311 = ({
  client,
  connected,
  ofClient,
  withWill,
  publish,
  subscribe,
  unsubscribe,
}: Packets): Row[] => [
  ['a client identifier has a surrogate', client(text(surrogate), ...credential), []],
  ['a client identifier has a null character', client(text(none), ...credential), []],
  ['a topic filter has a null character', connected(subscribe(text(none), 0)), closed],
  ['RETAIN of CONNECT', [withFirst(0x11)], []],
  ['DUP of CONNECT', [withFirst(0x18)], []],
  ['PUBREL with the identifier 0', connected(packet(0x62, uint16(0))), closed],
  // The bytes of an identifier are the payload.
  ['QoS 0 has no identifier', connected(publish({ qos: 0, payload: uint16(7) })), open],
  ['PINGREQ before CONNECT', [], []],
  ['MQTT 3.1', [connect(3, { name: 'MQIsdp' })], refused('1')],
  ['level 3', [connect(3)], refused('1')],
  ['a will', withWill(0x2c, 'a', 'gone'), open],
  ['a will without its flag', client(clientId, text('a'), text('gone'), ...credential), []],
  ['a password without a user name', ofClient({ flags: 0x42, payload: [clientId, text('x')] }), []],
  ['an empty client identifier', client(text(''), ...credential), open],
  ['the topic name ends behind the packet', connected(packet(0x30, uint16(9), 0x61)), closed],
  ['a topic name with +', connected(publish({ qos: 0, topic: 'readings/+' })), closed],
  ['SUBSCRIBE with a reserved bit', connected(subscribe(text('a'), 4)), closed],
  ['SUBSCRIBE without a QoS', connected(subscribe(text('a'))), closed],
  ['two topic filters', connected(subscribe(text('a'), 0, text('b'), 2)), goes('suback 9 0x80 0x80')],
  ['UNSUBSCRIBE of what there is not', connected(unsubscribe(text('a'), text('b'))), goes('unsuback 9')],
  ['DISCONNECT with a body', connected(packet(0xe0, 0)), closed],
  ['PUBREL with a body', connected(packet(0x62, uint16(1), 0)), closed],
  ['type 15', connected(packet(0xf0)), closed],
  ...['a+', '+a/b', 'a/+b'].map((filter): Row => {
    return [`UNSUBSCRIBE of ${filter}`, connected(unsubscribe(text(filter))), closed]
  }),
  ...['#', '+', 'a/#', '+/a/+', '/+', '/'].map((filter): Row => {
    const answers = goes('suback 9 0x80')
    return [`the filter ${filter}`, connected(subscribe(text(filter), 0)), answers]
  }),
  ['UNSUBSCRIBE of an empty topic filter', connected(unsubscribe(text(''))), closed],
]

const { connected, ofClient, ofType, withWill, publish: publishing, subscribe, unsubscribe, section } = packetsOf(5)
const asking = (...parts: Part[]) => ofClient({ properties: properties(...parts) })
const publishWith = (...parts: Part[]) => publishing({ properties: properties(...parts) })
const alias = (number: number) => properties(0x23, uint16(number))

/** The rows of MQTT 5 alone. */
export const rowsOf5: Row[] = [
  ['response topic', connected(publishWith(8, text(wrong))), ends('81')],
  ['content type', connected(publishWith(3, text(wrong))), ends('81')],
  ['user property', connected(publishWith(user('a', wrong))), ends('81')],
  ['user property', asking(user(wrong, 'a')), refused('81')],
  ['null character of a user property', connected(publishWith(user(none, 'a'))), ends('81')],
  ['a length in two bytes', connected(Buffer.from([0xc0, 0x80, 0])), ends('81')],
  ['a length of properties in two bytes', connected(publishing({ properties: Buffer.from([0x80, 0]) })), ends('81')],
  ['a length of properties in five bytes', connected(publishing({ properties: Buffer.alloc(5, 0xff) })), ends('81')],
  ['AUTH with a flag', connected(ofType(0xf1)), ends('81')],
  ['QoS 0 has no identifier', connected(publishing({ qos: 0 })), open],
  ['no length of properties', connected(packet(0x32, own, uint16(1))), ends('81')],
  ['version 6', [connect(6)], refused('84')],
  ['a will of QoS 2', withWill(0x14, 'a', 'gone'), open],
  ['response information is asked for', asking(0x19, 1), open],
  ['a retained will', withWill(0x24, 'a', 'gone'), refused('9a')],
  ['a large message', connected(publishing({ payload: Buffer.alloc(66_600) })), ends('95')],
  ['a large CONNECT', asking(user('a', Buffer.alloc(9000, 'a'))), []],
  ['topic alias 101', connected(publishing({ properties: alias(101) })), ends('94')],
  ['a will topic with +', withWill(4, '+', 'x'), refused('90')],
  ['topic alias 0', connected(publishing({ properties: alias(0) })), ends('94')],
  [
    'topic alias 100, and the message after it',
    connected(publishing({ properties: alias(100) }), publishing({ topic: '', properties: alias(100), id: 2 })),
    goes('puback 1', 'puback 2'),
  ],
  ['the topic alias of another connection', connected(publishing({ topic: '', properties: alias(100) })), ends('82')],
  ['a response topic with a wildcard', connected(publishWith(8, text('a/+'))), ends('82')],
  [
    'properties for subscribers are taken and not used',
    connected(
      publishWith(1, 1, 2, uint32(60), 3, text('application/json'), 8, text('a'), 9, text('b'), user('c', 'd')),
    ),
    stored(1),
  ],
  ['a subscription identifier', connected(publishWith(0x0b, 1)), ends('82')],
  ['PUBACK of another topic', connected(publishing({ topic: 'elsewhere' })), goes('puback 1 0x90')],
  ['PUBACK of no JSON', connected(publishing({ payload: wrong })), goes('puback 1 0x99')],
  [
    'PUBREC of an error, and another message with the identifier',
    connected(publishing({ qos: 2, payload: wrong }), packet(0x62, uint16(1)), publishing({ qos: 2, payload: wrong })),
    goes('pubrec 1 0x99', 'pubcomp 1 0x92', 'pubrec 1 0x99'),
  ],
  ['PUBREL with a reason', connected(packet(0x62, uint16(1), 0x92)), goes('pubcomp 1 0x92')],
  [
    'PUBREL of nothing',
    connected(packet(0x62, uint16(1), 0, properties(0x1f, text('why'), user('a', 'b')))),
    goes('pubcomp 1 0x92'),
  ],
  ['No Local of a shared subscription', connected(subscribe(text('$share/a/b'), 4)), ends('82')],
  ['a reserved bit', connected(subscribe(text('a'), 0x40)), ends('81')],
  ['retain handling 3', connected(subscribe(text('a'), 0x30)), ends('82')],
  ['two topic filters', connected(subscribe(text('a'), 2, text('a#'), 0)), goes('suback 9 0x87 0x8f')],
  ['a shared subscription', connected(subscribe(text('$share/a/b'), 0)), ends('9e')],
  ['a subscription identifier', connected(packet(0x82, uint16(9), properties(0x0b, 1), text('a'), 0)), ends('a1')],
  ['UNSUBSCRIBE of what there is not', connected(unsubscribe(text('a'), text('#/a'))), goes('unsuback 9 0x11 0x8f')],
  ['DISCONNECT with a reason', connected(packet(0xe0, 4)), closed],
  ['DISCONNECT prolongs one without expiry', connected(packet(0xe0, 0, properties(0x11, uint32(5)))), ends('82')],
  [
    'DISCONNECT that prolongs a session with expiry',
    ofClient({ properties: properties(0x11, uint32(5)) }, packet(0xe0, 0, properties(0x11, uint32(50)))),
    closed,
  ],
  ['AUTH without a method', connected(packet(0xf0, 0x18, ...section)), ends('82')],
  ['an authentication method', asking(0x15, text('SCRAM-SHA-1')), refused('8c')],
  ['authentication data without a method', asking(0x16, text('a')), refused('82')],
  ['an empty will topic', withWill(4, '', 'x'), refused('90')],
  // Section 2.2.2.2 and the definitions of the properties.
  ['an unknown property', connected(publishWith(0x7e, 0)), ends('81')],
  ['a property of another packet', connected(publishWith(0x21, uint16(5))), ends('81')],
  ['a property beyond the length', connected(publishing({ properties: Buffer.from([2, 0x23, 0, 1]) })), ends('81')],
  ['properties beyond the packet', connected(packet(0x30, own, 0x7f)), ends('81')],
  ['a property twice', connected(publishWith(2, uint32(0), 2, uint32(0))), ends('82')],
  ['payload format 2', connected(publishWith(1, 2)), ends('82')],
  ['receive maximum 0', asking(0x21, uint16(0)), refused('82')],
  ['maximum packet size 0', asking(0x27, uint32(0)), refused('82')],
  ['request problem information 2', asking(0x17, 2), refused('82')],
  ['a will property in CONNECT', asking(0x18, uint32(5)), refused('81')],
  ['an unknown property of the will', withWill(4, 'a', 'x', [properties(0x21, uint16(5))]), refused('81')],
  ['bytes behind the properties of PUBREL', connected(packet(0x62, uint16(1), 0, ...section, 0)), ends('81')],
  ['101 user properties', connected(publishWith(...Array.from({ length: 101 }, () => user('', '')))), ends('97')],
  ['101 topic filters', connected(subscribe(...Array.from({ length: 101 }, () => [text('a'), 0]).flat())), ends('97')],
]
