// What Streamlit calls with a parcel of pages: it goes into the store and is never seen.

export default function ({ data: [data] }) {
  keepParcel(data);
}
