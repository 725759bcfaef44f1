package dev.idempotent.outbox.method;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.AnnotatedMethodAdvisor;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.function.SingletonSupplier;

/**
 * Appends the events of {@code @TransactionalOutbox} methods. Must be innermost: within
 * the method's transaction, and within any advice that may return without calling the
 * method.
 */
public final class OutboxMethodAdvisor extends AnnotatedMethodAdvisor<OutboxMethod> {

	private final Supplier<Outbox> outbox;

	private final Supplier<OutboxTopics> topics;

	private final UnaryOperator<String> placeholders;

	/**
	 * Creates an advisor.
	 * @param outbox supplies the outbox at the first call
	 * @param topics supplies the topics when the first annotation is read
	 * @param placeholders replaces the placeholders of a topic; throws an
	 * {@link IllegalArgumentException} for an unknown one
	 */
	public OutboxMethodAdvisor(Supplier<Outbox> outbox, Supplier<OutboxTopics> topics,
			UnaryOperator<String> placeholders) {
		super(TransactionalOutbox.class, Outbox.class);
		this.outbox = SingletonSupplier.of(outbox);
		this.topics = SingletonSupplier.of(topics);
		this.placeholders = placeholders;
	}

	@Override
	protected OutboxMethod read(AnnotatedMethod method) {
		List<TransactionalOutbox> annotations = MergedAnnotations
			.from(method.method(), SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.stream(TransactionalOutbox.class)
			.map(MergedAnnotation::synthesize)
			.toList();
		return OutboxMethod.of(method, annotations, this.topics.get(), this.placeholders);
	}

	@Override
	protected @Nullable Object invoke(OutboxMethod method, MethodInvocation invocation) throws Throwable {
		Outbox outbox = this.outbox.get();
		// Fails before the work is done, not after it.
		outbox.requireTransaction();
		Object result = invocation.proceed();
		outbox.append(method.events(invocation.getArguments(), result));
		return result;
	}

}
