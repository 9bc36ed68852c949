/** The page's visibility: a hidden tab sends no requests and catches up when it is shown. */

/** Calls `onChange` at once and at each change. Returns a function that stops it. */
export function whileVisible(onChange: (isVisible: boolean) => void): () => void {
  const notify = () => onChange(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', notify)
  notify()
  return () => document.removeEventListener('visibilitychange', notify)
}
