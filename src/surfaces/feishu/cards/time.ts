/** Of the machine's own clock: the people of one team share its zone more often than not. */
export function timeOf(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toTimeString().slice(0, 5);
  return date.toDateString() === new Date(now).toDateString() ? time : `${localDay(date)} ${time}`;
}

function localDay(date: Date): string {
  const two = (n: number) => `${n}`.padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
