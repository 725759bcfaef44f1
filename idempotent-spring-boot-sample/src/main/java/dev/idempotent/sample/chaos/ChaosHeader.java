package dev.idempotent.sample.chaos;

import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The header {@code X-Chaos} of the current request, by which a client asks for trouble.
 */
@Component
public class ChaosHeader {

	private final ChaosProperties properties;

	ChaosHeader(ChaosProperties properties) {
		this.properties = properties;
	}

	/**
	 * Reads the header and applies its delay. Must be called when the key has been
	 * claimed. Does nothing outside a request.
	 * @throws BadChaosException if the header is invalid
	 */
	public void apply() throws InterruptedException {
		if (this.properties.enabled()
				&& RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes) {
			String header = attributes.getRequest().getHeader("X-Chaos");
			if (header != null) {
				ChaosRequest chaos = ChaosRequest.parse(header);
				attributes.setAttribute(Chaos.ATTRIBUTE, chaos, RequestAttributes.SCOPE_REQUEST);
				Thread.sleep(chaos.delay().toMillis());
			}
		}
	}

}
