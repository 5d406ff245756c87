// The part that is never seen: what the server tells goes to every part that shows it.

export default function ({ data: [data] }) {
  tell(talkOf(data.talk), data);
}
