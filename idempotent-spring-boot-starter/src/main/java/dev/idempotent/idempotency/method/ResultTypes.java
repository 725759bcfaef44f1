package dev.idempotent.idempotency.method;

import java.io.InputStream;
import java.io.Reader;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

import dev.idempotent.idempotency.operation.OperationTerms;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Refuses results that can be read but once, or that come by a way nobody watches.
 */
final class ResultTypes {

	private static final List<Class<?>> REFUSED = List.of(InputStream.class, Reader.class, Iterator.class,
			BaseStream.class, Future.class);

	private ResultTypes() {
	}

	static void check(String described, Method method) {
		Class<?> type = method.getReturnType();
		if (CompletionStage.class.isAssignableFrom(type)) {
			return;
		}
		if (KotlinDetector.isSuspendingFunction(method)
				|| REFUSED.stream().anyMatch((refused) -> refused.isAssignableFrom(type))
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
			throw OperationTerms.mistake(described, "returns " + type.getTypeName() + ", which cannot be replayed",
					"Return a value, a collection or a CompletableFuture.", null);
		}
	}

}
