package dev.idempotent.stream;

/**
 * Who listens to what.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param concurrency how many workers there are
 * @param method what each entry is brought to
 */
record Subscription(String stream, String group, int concurrency, ListenerMethod method) {

	@Override
	public String toString() {
		return "group " + this.group + " of stream " + this.stream;
	}

	String deadStream() {
		return this.stream + "." + this.group + ".dead";
	}

}
