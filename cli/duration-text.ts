/** How long something lasts, for people. */

export function durationText(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`
}
