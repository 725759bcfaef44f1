package dev.idempotent.idempotency.web;

import jakarta.servlet.Filter;
import org.springframework.aop.Advisor;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * Creates the components that report the progress of a request to the
 * {@link IdempotencyFilter}. An application context must have one of each.
 */
public final class IdempotencyWebComponents {

	private IdempotencyWebComponents() {
	}

	/**
	 * Creates the advisor that records the entry into annotated handler methods, inside
	 * all other advice.
	 * @return an infrastructure bean
	 */
	public static Advisor handlerEntryAdvisor() {
		return new HandlerEntryAdvisor();
	}

	/**
	 * Creates the resolver that records exceptions of handlers, before all other
	 * resolvers. It resolves none.
	 * @return an ordered resolver
	 */
	public static HandlerExceptionResolver handlerFailureRecorder() {
		return new HandlerFailureRecorder();
	}

	/**
	 * Creates the resolver that sends the problem details of an annotated method of
	 * another bean that was refused, after all other resolvers.
	 * @param settings the types of the problems
	 * @return an ordered resolver
	 */
	public static HandlerExceptionResolver methodRefusalResolver(IdempotencyWebSettings settings) {
		return new MethodRefusalResolver(settings.problems());
	}

	/**
	 * Creates the resolver that sends the problem details of a saga that was undone or
	 * halted, after all other resolvers.
	 * @param undone the type of the exception of a saga that was undone
	 * @param halted the type of the exception of a halted saga
	 * @param settings the types of the problems
	 * @return an ordered resolver
	 */
	public static HandlerExceptionResolver sagaFailureResolver(Class<? extends Exception> undone,
			Class<? extends Exception> halted, IdempotencyWebSettings settings) {
		return new SagaFailureResolver(undone, halted, settings.problems());
	}

	/**
	 * Creates the filter that settles keys whose error page does not reach the
	 * {@link IdempotencyFilter}.
	 * @return a filter to map to the dispatcher types REQUEST, ASYNC and ERROR, before
	 * all other filters
	 */
	public static Filter errorFilter() {
		return new IdempotencyErrorFilter();
	}

}
