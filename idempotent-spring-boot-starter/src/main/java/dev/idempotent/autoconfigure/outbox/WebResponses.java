package dev.idempotent.autoconfigure.outbox;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.List;

import dev.idempotent.aop.AnnotatedMethod;
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
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;
import org.springframework.web.ErrorResponse;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.function.EntityResponse;
import org.springframework.web.servlet.function.RenderingResponse;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.Controller;
import org.springframework.web.servlet.view.FragmentsRendering;
import org.springframework.web.servlet.view.RedirectView;
import org.springframework.web.servlet.view.UrlBasedViewResolver;

/**
 * The responses of Spring MVC, with the status that each handler gives them. Loaded only
 * if the application has it.
 */
final class WebResponses implements Responses {

	/**
	 * Has no getter. Without it, the status of a redirect is unknown.
	 */
	private static final @Nullable Field REDIRECT_STATUS = ReflectionUtils.findField(RedirectView.class, "statusCode");

	@Override
	public boolean hasStatus(AnnotatedMethod method) {
		Class<?> returned = method.method().getReturnType();
		return isHandler(method) || ResponseEntity.class.isAssignableFrom(returned)
				|| ErrorResponse.class.isAssignableFrom(returned) || ProblemDetail.class.isAssignableFrom(returned)
				|| ServerResponse.class.isAssignableFrom(returned);
	}

	/**
	 * Returns whether Spring MVC calls a method for a request, other than through a
	 * functional endpoint, and takes what it returns as the response.
	 */
	private static boolean isHandler(AnnotatedMethod method) {
		return method.isWebHandler() || isExceptionHandler(method) || isOfHandler(method);
	}

	/**
	 * Returns whether a method is one of a handler that has no controller methods.
	 */
	private static boolean isOfHandler(AnnotatedMethod method) {
		return HttpRequestHandler.class.isAssignableFrom(method.type())
				|| Controller.class.isAssignableFrom(method.type());
	}

	private static boolean isExceptionHandler(AnnotatedMethod method) {
		return isPresent(method.method(), ExceptionHandler.class);
	}

	@Override
	public boolean isEmpty(AnnotatedMethod method) {
		return ResolvableType.forMethodReturnType(method.method()).as(HttpEntity.class).resolveGeneric() == Void.class;
	}

	@Override
	public @Nullable Object body(@Nullable Object result) {
		if (result instanceof ServerResponse) {
			return (result instanceof EntityResponse<?> entity) ? entity.entity() : null;
		}
		return (result instanceof HttpEntity<?> entity) ? entity.getBody()
				: (result instanceof ErrorResponse error) ? error.getBody() : result;
	}

	/**
	 * As Spring MVC does: a committed response keeps its status, and containers regard
	 * one on which an error was sent as committed. Otherwise what the handler has
	 * returned counts before its annotation, and that before what was set on the
	 * response, except that an annotation with a reason sends an error.
	 */
	@Override
	public @Nullable Integer status(AnnotatedMethod method, @Nullable Object result) {
		HttpServletResponse response = responseOf(method);
		ResponseStatus annotation = annotation(method);
		boolean sendsError = annotation != null && StringUtils.hasText(annotation.reason());
		if (response != null && response.isCommitted()) {
			// Sending a second error fails.
			return sendsError ? HttpStatus.INTERNAL_SERVER_ERROR.value() : response.getStatus();
		}
		if (annotation != null && sendsError) {
			return annotation.code().value();
		}
		boolean handler = response != null || isHandler(method);
		if (handler || result instanceof ServerResponse) {
			requireKnown(method, result);
		}
		HttpStatusCode returned = status(result);
		if (returned != null) {
			return returned.value();
		}
		if (annotation != null) {
			return annotation.code().value();
		}
		if (handler && isRedirect(view(result)) && !isBody(method, result)) {
			return HttpStatus.FOUND.value();
		}
		if (response != null) {
			return response.getStatus();
		}
		return handler ? HttpStatus.OK.value() : null;
	}

	/**
	 * Checks that nothing sets the status after the handler has returned.
	 * @throws IllegalStateException if what it has returned may do so
	 */
	private static void requireKnown(AnnotatedMethod method, @Nullable Object result) {
		Object body = (result instanceof HttpEntity<?> entity) ? entity.getBody() : result;
		Object view = view(result);
		if (body != null && AnnotatedMethod.isLateResponse(body.getClass())) {
			throw unknownStatus(method, "a " + body.getClass().getName() + ", which responds later");
		}
		if (isForward(view) && !isBody(method, result)) {
			throw unknownStatus(method, "'" + view + "', and what it forwards to may set another status");
		}
		if (view instanceof View && !(view instanceof FragmentsRendering)
				&& (!(view instanceof RedirectView) || REDIRECT_STATUS == null)) {
			throw unknownStatus(method, "a view of " + view.getClass().getName() + ", which may set another status");
		}
		Collection<?> fragments = (view instanceof FragmentsRendering rendering) ? rendering.fragments()
				: (result instanceof Collection<?> several) ? several : List.of();
		for (Object fragment : fragments) {
			if (fragment instanceof ModelAndView && (view(fragment) instanceof View || isForward(view(fragment)))) {
				throw unknownStatus(method,
						"fragments, of which the view '" + view(fragment) + "' may set another status");
			}
		}
	}

	private static boolean isForward(@Nullable Object view) {
		return view instanceof String name && name.startsWith(UrlBasedViewResolver.FORWARD_URL_PREFIX);
	}

	private static boolean isRedirect(@Nullable Object view) {
		return view instanceof RedirectView
				|| (view instanceof String name && name.startsWith(UrlBasedViewResolver.REDIRECT_URL_PREFIX));
	}

	private static IllegalStateException unknownStatus(AnnotatedMethod method, String returned) {
		return new IllegalStateException(
				("The call of the @TransactionalOutbox method %s is rolled back, because the status of its response decides "
						+ "whether there is an event, and is not known when it returns: it has returned %s. Return a "
						+ "ResponseEntity or the name of a view, or append the event in a service.")
					.formatted(method.describe(), returned));
	}

	/**
	 * Returns the view, or the name of the view, that a handler has returned.
	 */
	private static @Nullable Object view(@Nullable Object result) {
		if (result instanceof ModelAndView model) {
			return (model.getView() != null) ? model.getView() : model.getViewName();
		}
		if (result instanceof RenderingResponse rendering) {
			return rendering.name();
		}
		return (result instanceof CharSequence name) ? name.toString() : (result instanceof View) ? result : null;
	}

	/**
	 * Returns whether a text is not the name of a view.
	 */
	private static boolean isBody(AnnotatedMethod method, @Nullable Object result) {
		return result instanceof CharSequence && (isPresent(method.method(), ResponseBody.class)
				|| isPresent(method.type(), ResponseBody.class) || isPresent(method.method(), ModelAttribute.class));
	}

	private static boolean isPresent(AnnotatedElement element, Class<? extends Annotation> annotation) {
		return AnnotatedElementUtils.hasAnnotation(element, annotation);
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
		if (result instanceof ServerResponse response) {
			return response.statusCode();
		}
		HttpStatusCode ofView = ofView(view(result));
		return (ofView == null && result instanceof ModelAndView model) ? model.getStatus() : ofView;
	}

	private static @Nullable HttpStatusCode ofView(@Nullable Object view) {
		if (view instanceof FragmentsRendering fragments) {
			return fragments.status();
		}
		if (view instanceof RedirectView && REDIRECT_STATUS != null) {
			ReflectionUtils.makeAccessible(REDIRECT_STATUS);
			return (HttpStatusCode) ReflectionUtils.getField(REDIRECT_STATUS, view);
		}
		return null;
	}

	/**
	 * Returns the response of the request that the method handles: the status of another
	 * handler's response says nothing of a method that it calls.
	 */
	private static @Nullable HttpServletResponse responseOf(AnnotatedMethod method) {
		if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request)) {
			return null;
		}
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE,
				RequestAttributes.SCOPE_REQUEST);
		return (isExceptionHandler(method) || handles(method, handler)) ? request.getResponse() : null;
	}

	private static boolean handles(AnnotatedMethod method, @Nullable Object handler) {
		if (handler instanceof HandlerMethod mapped) {
			return AopUtils.getMostSpecificMethod(mapped.getMethod(), method.type()).equals(method.method());
		}
		return handler != null && isOfHandler(method) && AopUtils.getTargetClass(handler).equals(method.type());
	}

}
