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

/**
 * True if a subscription to the filter gets messages of the topic. Wildcards at the beginning leave out `$SYS` and its
 * like.
 */
export function matchesFilter(filter: string, topic: string): boolean {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  if (topic.startsWith('$') && hasWildcard(wanted[0] ?? '')) return false
  for (const [index, level] of wanted.entries()) {
    if (level === '#') return true
    if (index >= levels.length || (level !== '+' && level !== levels[index])) return false
  }
  return wanted.length === levels.length
}
