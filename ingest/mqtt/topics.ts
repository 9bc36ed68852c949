/** Topic names and topic filters (MQTT 3.1.1 and 5, 4.7). */

const sharedPrefix = '$share/'

export function hasWildcard(topic: string): boolean {
  return topic.includes('+') || topic.includes('#')
}

/** True when all wildcards are at allowed places. */
export function isTopicFilter(filter: string): boolean {
  if (filter === '') return false
  if (!hasWildcard(filter)) return true
  const levels = filter.split('/')
  return levels.every((level, index) => {
    return !hasWildcard(level) || level === '+' || (level === '#' && index === levels.length - 1)
  })
}

export function isShared(filter: string): boolean {
  return filter.startsWith(sharedPrefix)
}
