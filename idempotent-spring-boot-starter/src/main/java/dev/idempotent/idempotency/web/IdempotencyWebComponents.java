package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.Function;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AdvisorBeanPostProcessor;
import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.handler.AbstractHandlerExceptionResolver;

/**
 * Creates the components that report the progress of a request to the
 * {@link IdempotencyFilter}. An application context must have one of each.
 */
public final class IdempotencyWebComponents {

	private IdempotencyWebComponents() {
	}

	/**
	 * Checks the settings before any component is created.
	 * @param settings the settings
	 * @throws IdempotentConfigurationException if a required request, a stored status, a
	 * header or the base URI of the problems is malformed
	 */
	public static void check(IdempotencyWebSettings settings) {
		if (!HeaderNames.isValid(settings.header())) {
			throw new IdempotentConfigurationException(
					"idempotent.web.header is '%s', which is not a valid header name.".formatted(settings.header()),
					"Set it to the name of the header that carries the key, or omit it.");
		}
		settings.requiredFor().forEach(IdempotentOperations.Rule::parse);
		ResponsePolicy unused = new ResponsePolicy(settings);
	}

	/**
	 * Returns whether Spring MVC maps requests to a method.
	 * @param type the class of the bean
	 * @param method its method
	 * @return whether it is a handler method
	 */
	public static boolean isHandler(Class<?> type, Method method) {
		return HandlerInvocationAdvisor.isHandler(type, method);
	}

	/**
	 * Returns whether advice can watch the handlers of a class.
	 * @param type the class of the bean
	 * @return whether a proxy of the class can be created
	 */
	public static boolean canBeWatched(Class<?> type) {
		return HandlerInvocationAdvisor.needsProxy(type);
	}

	/**
	 * Creates the post-processor that marks the calls of handler methods, outside all
	 * other advice.
	 * @param unannotated whether to watch handlers without annotation, too
	 * @param guarantee the guarantee by default
	 * @return an infrastructure bean, to be declared after {@link #handlerEntryAdvice}
	 */
	public static AdvisorBeanPostProcessor handlerCallAdvice(BooleanSupplier unannotated,
			Supplier<Guarantee> guarantee) {
		return new AdvisorBeanPostProcessor(new HandlerInvocationAdvisor(false, unannotated, guarantee),
				Placement.OUTERMOST, (type) -> false);
	}

	/**
	 * Creates the post-processor that watches the entry into handler methods, inside all
	 * other advice.
	 * @param unannotated whether to watch handlers without annotation, too
	 * @param guarantee the guarantee by default
	 * @return an infrastructure bean
	 */
	public static AdvisorBeanPostProcessor handlerEntryAdvice(BooleanSupplier unannotated,
			Supplier<Guarantee> guarantee) {
		AdvisorBeanPostProcessor processor = new AdvisorBeanPostProcessor(
				new HandlerInvocationAdvisor(true, unannotated, guarantee), Placement.INSIDE_APPLICATION,
				HandlerInvocationAdvisor::needsProxy);
		// A controller may be declared with an interface that lacks its handlers.
		processor.setProxyTargetClass(true);
		return processor;
	}

	/**
	 * Creates the resolver that sends the problem details of an annotated method of
	 * another bean that was refused, after all other resolvers.
	 * @param settings the types of the problems
	 * @return an ordered resolver
	 */
	public static HandlerExceptionResolver methodRefusalResolver(IdempotencyWebSettings settings) {
		return resolver(settings, IdempotencyWebComponents::refusalOfMethod);
	}

	private static @Nullable RefusedRequestException refusalOfMethod(Exception ex) {
		if (ex instanceof ToolCallRefusedException refused) {
			return (refused.getCause() instanceof Exception cause) ? refusalOfMethod(cause) : null;
		}
		if (ex instanceof IdempotencyPendingException) {
			return Problem.IN_PROGRESS
				.refusal("A part of this request is still running, or waits. Send the request again later, unchanged.");
		}
		if (ex instanceof IdempotencyMismatchException) {
			return Problem.KEY_REUSED.refusal(
					"A part of this request was requested before with different data, and the first one counts. It was "
							+ "not done again. " + Problem.FIRST_COUNTS);
		}
		if (ex instanceof IdempotencyResultException) {
			return Problem.RESPONSE_NOT_KEPT
				.refusal("A part of this request was processed before, but its result could not be stored. "
						+ "Look it up. Do not request it again.");
		}
		return (ex instanceof IdempotencyStoreUnavailableException)
				? Problem.STORE_UNREACHABLE.refusal("Send the request again, unchanged.") : null;
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
		return resolver(settings, (ex) -> undone.isInstance(ex) ? Problem.SAGA_COMPENSATED.refusal()
				: halted.isInstance(ex) ? Problem.SAGA_HALTED.refusal() : null);
	}

	/**
	 * Creates the resolver of failed commits of rendered views, which asks the resolvers
	 * of the dispatcher servlet of the request.
	 * @param observer the {@link IdempotentHandlerAdapter}, which is not asked
	 * @return a resolver for the filter, not to be declared as a bean
	 */
	public static HandlerExceptionResolver viewFailureResolver(HandlerExceptionResolver observer) {
		return new ViewFailureResolver(observer);
	}

	/**
	 * Sends the problem details of work that was refused within a handler, as the filter
	 * does for a refused request. Exception handlers of the application take precedence.
	 */
	private static HandlerExceptionResolver resolver(IdempotencyWebSettings settings,
			Function<Exception, @Nullable RefusedRequestException> refusals) {
		ProblemTypes problems = new ProblemTypes(settings.problemBaseUri(), settings.problemRenderer());
		return new AbstractHandlerExceptionResolver() {

			@Override
			protected @Nullable ModelAndView doResolveException(HttpServletRequest request,
					HttpServletResponse response, @Nullable Object handler, Exception ex) {
				RefusedRequestException refusal = refusals.apply(ex);
				if (refusal == null) {
					return null;
				}
				Problem problem = refusal.problem();
				HandlerRun run = HandlerRun.of(request);
				// A response that is stored is final: a retry gets the same one.
				boolean retryable = problem.isRetryable() && (run == null || !run.isStored(problem.status()));
				try {
					problems.respond(problem, refusal.detail(), retryable, ProblemTypes.newInstance()).sendTo(response);
					return new ModelAndView();
				}
				catch (IOException failure) {
					throw new UncheckedIOException(failure);
				}
			}

		};
	}

	/**
	 * Creates the filter that settles keys whose error page does not reach the
	 * {@link IdempotencyFilter}, and lets the latter notice that a body was read before.
	 * @return a filter to map to the dispatcher types REQUEST, ASYNC and ERROR, before
	 * all other filters
	 */
	public static Filter errorFilter() {
		return new IdempotencyErrorFilter();
	}

}
