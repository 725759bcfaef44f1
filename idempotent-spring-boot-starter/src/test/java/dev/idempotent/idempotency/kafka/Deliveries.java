package dev.idempotent.idempotency.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.RetryListener;

/**
 * The deliveries of records to listeners, by the keys of the records.
 */
class Deliveries implements RecordInterceptor<Object, Object>, RetryListener {

	private final List<Object> taken = new CopyOnWriteArrayList<>();

	private final List<Failure> failures = new CopyOnWriteArrayList<>();

	private final List<Object> recovered = new CopyOnWriteArrayList<>();

	@Override
	public ConsumerRecord<Object, Object> intercept(ConsumerRecord<Object, Object> record,
			Consumer<Object, Object> consumer) {
		return record;
	}

	@Override
	public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
		this.taken.add(record.key());
	}

	@Override
	public void failedDelivery(ConsumerRecord<?, ?> record, @Nullable Exception failure, int attempt) {
		Throwable cause = (failure instanceof ListenerExecutionFailedException) ? failure.getCause() : failure;
		if (cause != null) {
			this.failures.add(new Failure(record.key(), cause.getClass()));
		}
	}

	@Override
	public void recovered(ConsumerRecord<?, ?> record, @Nullable Exception failure) {
		this.recovered.add(record.key());
	}

	long taken(String key) {
		return this.taken.stream().filter(key::equals).count();
	}

	List<Class<?>> failures(String key) {
		List<Class<?>> types = new ArrayList<>();
		this.failures.stream()
			.filter((failure) -> failure.key().equals(key))
			.forEach((failure) -> types.add(failure.type()));
		return types;
	}

	long recovered(String key) {
		return this.recovered.stream().filter(key::equals).count();
	}

	private record Failure(Object key, Class<?> type) {
	}

}
