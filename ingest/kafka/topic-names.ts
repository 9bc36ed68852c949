/** The topics of a service: one for each table, which is that table's journal. */

export interface ServiceTopicNames {
  readings: string
  points: string
}

export function topicsOf(prefix: string): ServiceTopicNames {
  return { readings: `${prefix}readings-s1`, points: `${prefix}points-s1` }
}
