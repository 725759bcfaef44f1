package dev.idempotent.idempotency.web.webhook;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.OncePerRequestFilter;

@Configuration(proxyBeanMethods = false)
class WebhookSignatures {

	@Bean
	FilterRegistrationBean<SignatureFilter> webhookSignatureFilter(@Value("${webhooks.secret}") String secret) {
		FilterRegistrationBean<SignatureFilter> filter = new FilterRegistrationBean<>(new SignatureFilter(secret));
		filter.addUrlPatterns("/webhooks/*");
		filter.setOrder(0); // after Spring Security (-100), before the IdempotencyFilter
		return filter;
	}

	static class SignatureFilter extends OncePerRequestFilter {

		private static final int MAX_BODY = 256 * 1024;

		private final SecretKeySpec secret;

		SignatureFilter(String secret) {
			this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			byte[] body = request.getInputStream().readNBytes(MAX_BODY);
			if (isSigned(body, request.getHeader("X-Signature"))) {
				chain.doFilter(new SignedRequest(request, body, "payment-provider"), response);
			}
			else {
				response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
			}
		}

		private boolean isSigned(byte[] body, @Nullable String signature) {
			try {
				Mac mac = Mac.getInstance("HmacSHA256");
				mac.init(this.secret);
				return signature != null
						&& MessageDigest.isEqual(mac.doFinal(body), HexFormat.of().parseHex(signature));
			}
			catch (GeneralSecurityException | IllegalArgumentException ex) {
				return false;
			}
		}

	}

}
