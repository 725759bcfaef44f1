package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Recognises handler methods that answer after they have returned, on another thread.
 */
final class AsynchronousReturn {

	private static final List<Class<?>> TYPES = List.of(Callable.class, DeferredResult.class, WebAsyncTask.class,
			ResponseBodyEmitter.class, StreamingResponseBody.class);

	private AsynchronousReturn() {
	}

	static boolean isOf(Method method) {
		ResolvableType type = ResolvableType.forMethodReturnType(method);
		return KotlinDetector.isSuspendingFunction(method) || isAsynchronous(type)
				|| (HttpEntity.class.isAssignableFrom(type.toClass())
						&& isAsynchronous(type.as(HttpEntity.class).getGeneric()));
	}

	private static boolean isAsynchronous(ResolvableType type) {
		Class<?> raw = type.toClass();
		return TYPES.stream().anyMatch((known) -> known.isAssignableFrom(raw))
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw) != null;
	}

}
