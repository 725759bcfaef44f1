package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.outbox.method.OutboxMethodAdvisor.Responses;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.StringUtils;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;

/**
 * The responses of Spring MVC, with the status that each handler gives them. Loaded only
 * if the application has it.
 */
final class WebResponses implements Responses {

	@Override
	public boolean hasStatus(AnnotatedMethod method) {
		Class<?> returned = method.method().getReturnType();
		return method.isWebHandler() || ResponseEntity.class.isAssignableFrom(returned)
				|| ErrorResponse.class.isAssignableFrom(returned) || ProblemDetail.class.isAssignableFrom(returned);
	}

	@Override
	public boolean isEmpty(AnnotatedMethod method) {
		return ResolvableType.forMethodReturnType(method.method()).as(HttpEntity.class).resolveGeneric() == Void.class;
	}

	@Override
	public @Nullable Object body(@Nullable Object result) {
		return (result instanceof HttpEntity<?> entity) ? entity.getBody()
				: (result instanceof ErrorResponse error) ? error.getBody() : result;
	}

	/**
	 * As Spring MVC does: what the handler has returned counts before its annotation, and
	 * that before what was set on the response, except that an annotation with a reason
	 * sends an error.
	 */
	@Override
	public @Nullable Integer status(AnnotatedMethod method, @Nullable Object result) {
		ResponseStatus annotation = annotation(method);
		if (annotation != null && StringUtils.hasText(annotation.reason())) {
			return annotation.code().value();
		}
		HttpStatusCode returned = status(result);
		if (returned != null) {
			return returned.value();
		}
		if (annotation != null) {
			return annotation.code().value();
		}
		HttpServletResponse response = responseOf(method);
		if (response != null) {
			return response.getStatus();
		}
		return method.isWebHandler() ? HttpStatus.OK.value() : null;
	}

	private static @Nullable ResponseStatus annotation(AnnotatedMethod method) {
		ResponseStatus own = AnnotatedElementUtils.findMergedAnnotation(method.method(), ResponseStatus.class);
		return (own != null) ? own : AnnotatedElementUtils.findMergedAnnotation(method.type(), ResponseStatus.class);
	}

	private static @Nullable HttpStatusCode status(@Nullable Object result) {
		if (result instanceof ResponseEntity<?> entity) {
			return entity.getStatusCode();
		}
		if (result instanceof ErrorResponse error) {
			return error.getStatusCode();
		}
		if (result instanceof ProblemDetail problem) {
			return HttpStatusCode.valueOf(problem.getStatus());
		}
		return (result instanceof ModelAndView view) ? view.getStatus() : null;
	}

	/**
	 * Returns the response of the request that the method handles: the status of another
	 * handler's response says nothing of a method that it calls.
	 */
	private static @Nullable HttpServletResponse responseOf(AnnotatedMethod method) {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request
				&& request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE,
						RequestAttributes.SCOPE_REQUEST) instanceof HandlerMethod handler
				&& AopUtils.getMostSpecificMethod(handler.getMethod(), method.type()).equals(method.method()))
						? request.getResponse() : null;
	}

}
