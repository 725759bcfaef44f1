package dev.idempotent.outbox.method;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.function.SingletonSupplier;

/**
 * The annotated methods of an application. Reads each when it is needed first, so that it
 * can be made before anything else.
 */
public final class OutboxMethods {

	private final Supplier<Outbox> outbox;

	private final Supplier<OutboxTopics> topics;

	private final Map<Target, Boolean> included = new ConcurrentHashMap<>();

	private final Map<Target, OutboxMethod> known = new ConcurrentHashMap<>();

	/**
	 * Creates the methods.
	 * @param outbox takes the events; asked for at the first call
	 * @param topics where events may go; asked for with the first method that is read
	 */
	public OutboxMethods(Supplier<Outbox> outbox, Supplier<OutboxTopics> topics) {
		this.outbox = SingletonSupplier.of(outbox);
		this.topics = SingletonSupplier.of(topics);
	}

	boolean include(Method method, Class<?> type) {
		return this.included.computeIfAbsent(Target.of(type, method), (target) -> !target.annotations().isEmpty());
	}

	/**
	 * Runs a call and appends its events.
	 */
	@Nullable Object invoke(Class<?> type, MethodInvocation call) throws Throwable {
		OutboxMethod method = methodOf(type, call.getMethod());
		Outbox outbox = this.outbox.get();
		// Before the work is done for nothing.
		outbox.requireTransaction();
		Object result = call.proceed();
		outbox.append(method.events(call.getArguments(), result));
		return result;
	}

	/**
	 * Reads the annotations of a method.
	 * @throws dev.idempotent.IdempotentConfigurationException if they ask for what cannot
	 * be
	 */
	OutboxMethod methodOf(Class<?> type, Method method) {
		Target target = Target.of(type, method);
		OutboxMethod read = this.known.get(target);
		if (read == null) {
			read = OutboxMethod.of(target.type(), target.method(), target.annotations(), this.topics.get());
			this.known.put(target, read);
		}
		return read;
	}

	private record Target(Class<?> type, Method method) {

		static Target of(Class<?> type, Method method) {
			return new Target(type, AopUtils.getMostSpecificMethod(method, type));
		}

		List<TransactionalOutbox> annotations() {
			return MergedAnnotations
				.from(this.method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
				.stream(TransactionalOutbox.class)
				.map(MergedAnnotation::synthesize)
				.toList();
		}

	}

}
