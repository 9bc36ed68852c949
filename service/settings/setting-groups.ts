/** Groups the settings by subject, in the order of their schema. */

import { settingRows } from './start-help.ts'

/** Each group begins with the named setting. */
const beginnings = {
  HOST: 'Addresses and data',
  QUESTDB_HTTP: 'Databases',
  KAFKA_BROKERS: 'Kafka and nodes',
  TLS_CERT: 'TLS and proxies',
  MQTT_PORT: 'MQTT',
  PARENT_PID: 'Process and log',
  JOURNAL_MAX: 'Journal',
  CONNECTIONS_MAX: 'Limits of requests',
  LINE_PROTOCOL_BODY_MAX: 'Line protocol',
  AUTH_HOST: 'Who may sign in and read',
  EVENTS_CLIENTS_MAX: 'Events',
  SESSION_FORMAT: 'Sessions and accounts',
  SMTP_URL: 'Mail and notifications',
  DRIVE_NAME: 'External drive',
  TIMESTAMP_AHEAD_SECONDS: 'Times and retention',
  ARCHIVE_URL: 'Archive',
  LATEST_BYTES_MAX: 'Queries',
  RANGE_TEMPERATURE: 'Accepted values',
} satisfies Record<string, string>

export interface SettingGroup {
  title: string
  rows: ReturnType<typeof settingRows>
}

export function settingGroups(): SettingGroup[] {
  const groups: SettingGroup[] = []
  for (const row of settingRows()) {
    const title = (beginnings as Record<string, string>)[row[0]]
    if (title !== undefined) groups.push({ title, rows: [] })
    groups.at(-1)?.rows.push(row)
  }
  return groups
}
