/** The settings of a broker that is broker and controller at once, for a cluster of one or three on this machine. */

export interface BrokerPlace {
  /** Ids begin at 1. */
  id: number
  port: number
  controllerPort: number
  dataFolder: string
}

/** Returns the text of a properties file. `all` is in the order of the brokers. `own` replaces other settings. */
export function brokerSettingsText(
  place: BrokerPlace,
  all: readonly BrokerPlace[],
  own: Readonly<Record<string, string>> = {},
): string {
  const settings = { ...placeSettings(place, all), ...replicationSettings(all.length), ...smallSettings, ...own }
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

function placeSettings({ id, port, controllerPort, dataFolder }: BrokerPlace, all: readonly BrokerPlace[]) {
  const voters = all.map(other => `${other.id}@127.0.0.1:${other.controllerPort}`)
  return {
    'process.roles': 'broker,controller',
    'node.id': `${id}`,
    'controller.quorum.voters': voters.join(','),
    'controller.listener.names': 'CONTROLLER',
    listeners: `CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'CLIENT',
    'log.dirs': dataFolder,
    'auto.create.topics.enable': 'false',
  }
}

function replicationSettings(brokers: number) {
  // How long a broker that was killed keeps its number from itself. With several on a busy machine they must last.
  const sessionMs = brokers === 1 ? 3000 : 9000
  const factor = `${Math.min(brokers, 3)}`
  const inSync = brokers < 3 ? '1' : '2'
  return {
    'broker.session.timeout.ms': `${sessionMs}`,
    'broker.heartbeat.interval.ms': `${sessionMs / 6}`,
    'offsets.topic.replication.factor': factor,
    'transaction.state.log.replication.factor': factor,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': factor,
    'share.coordinator.state.topic.min.isr': inSync,
    // Three brokers on a busy machine elect controllers without end if these have their defaults.
    'controller.quorum.election.timeout.ms': '4000',
    'controller.quorum.fetch.timeout.ms': '6000',
    'controller.quorum.request.timeout.ms': '6000',
  }
}

const smallSettings = {
  'group.initial.rebalance.delay.ms': '0',
  // Allocated at the start. The default is 128 MB.
  'log.cleaner.dedupe.buffer.size': '4194304',
  'offsets.topic.num.partitions': '1',
  'num.io.threads': '3',
  'num.network.threads': '2',
}
