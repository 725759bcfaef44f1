package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A producer that fails as told, by the payloads of the records.
 */
class ScriptedProducer extends MockProducer<byte[], byte[]> {

	private final Map<String, Exception> atSend = new HashMap<>();

	private final Map<String, Exception> atFlush = new HashMap<>();

	private final Map<CompletableFuture<RecordMetadata>, Exception> pending = new HashMap<>();

	private int sends;

	ScriptedProducer(Cluster cluster) {
		super(cluster, true, null, new ByteArraySerializer(), new ByteArraySerializer());
	}

	ScriptedProducer failAtSend(String payload, Exception failure) {
		this.atSend.put(payload, failure);
		return this;
	}

	ScriptedProducer failAtFlush(String payload, Exception failure) {
		this.atFlush.put(payload, failure);
		return this;
	}

	/**
	 * How many records were passed to it.
	 */
	int sends() {
		return this.sends;
	}

	@Override
	public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
		this.sends++;
		String payload = new String(record.value(), StandardCharsets.UTF_8);
		if (this.atSend.containsKey(payload)) {
			return CompletableFuture.failedFuture(this.atSend.get(payload));
		}
		if (this.atFlush.containsKey(payload)) {
			CompletableFuture<RecordMetadata> future = new CompletableFuture<>();
			this.pending.put(future, this.atFlush.get(payload));
			return future;
		}
		return super.send(record);
	}

	@Override
	public synchronized void flush() {
		this.pending.forEach(CompletableFuture::completeExceptionally);
		super.flush();
	}

}
