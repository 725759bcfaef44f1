package dev.idempotent.sample.chaos;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Reads the header {@code X-Chaos} and applies its delay, when the key has been claimed;
 * under {@code Guarantee.TRANSACTION}, in the open transaction.
 */
@Component
class ChaosInterceptor implements HandlerInterceptor, WebMvcConfigurer {

	private final ChaosProperties properties;

	ChaosInterceptor(ChaosProperties properties) {
		this.properties = properties;
	}

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		if (this.properties.enabled()) {
			registry.addInterceptor(this);
		}
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws InterruptedException {
		@Nullable String header = request.getHeader("X-Chaos");
		if (header != null) {
			ChaosRequest chaos = ChaosRequest.parse(header);
			request.setAttribute(Chaos.ATTRIBUTE, chaos);
			Thread.sleep(chaos.delay().toMillis());
		}
		return true;
	}

}
