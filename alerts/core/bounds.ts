/** Limits of rules, states and notifications, and the times that notifications wait. */

export const bounds = {
  rulesPerOwner: 1000,
  channelsPerOwner: 100,
  channelsPerRule: 16,
  silencesPerOwner: 1000,
  /** Rules with devices that they cover. */
  pairsMax: 1_000_000,
  /** The most of these pairs that the rules of an ordinary account have. */
  pairsPerOwner: 100_000,
  /** Kept for rules of administrators and of the service. */
  pairsReservedShare: 0.1,
  /** Undelivered. */
  notificationsWaitingMax: 100_000,
  groupWaitMs: 30_000,
  groupIntervalMs: 300_000,
  repeatMs: 14_400_000,
  /** The limit of devices that a message names. */
  namedDevicesMax: 20,
  previewDevicesMax: 200,
  previewDaysMax: 366,
  /** Stored readings are read again from this long before the time up to which all is evaluated. */
  replaySlackMs: 600_000,
} as const

/** Times that a group waits: at first, between two notifications, and until it repeats one. */
export type Waits = { readonly [Name in 'groupWaitMs' | 'groupIntervalMs' | 'repeatMs']: number }
