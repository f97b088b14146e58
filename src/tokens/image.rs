//! Tokens of a picture, by its dimensions.
//!
//! The rule is the one that Anthropic publishes: scaled down to a long edge of
//! 1568 pixels, width × height / 750. What other providers count is of the same
//! order. Its encoding never matters: neither a picture's bytes nor its base64
//! are read as text.

use imagesize::ImageType;

use crate::model::{Image, ImageSource};

/// The long edge that a picture is scaled down to, in pixels.
const LONG_EDGE: u64 = 1568;
const PIXELS_A_TOKEN: u64 = 750;
/// What a picture of unknown dimensions counts: a full square.
pub(super) const FULL_PRICE: u32 = 3279;
/// No picture counts less: each provider has a smallest price.
const LEAST: u32 = 85;
/// Dimensions stand at the start; after that much, they count as unknown.
const HEAD_BYTES: usize = 64 * 1024;

/// Tokens of a picture: the same for any encoding of the same dimensions, the
/// full price where they are unknown.
#[must_use]
pub fn image(image: &Image) -> u32 {
    match &image.source {
        ImageSource::Data(bytes) => dimensions(bytes).map_or(FULL_PRICE, price),
        ImageSource::Url(_) => FULL_PRICE,
    }
}

/// Width and height. Only of the formats that providers take: each further
/// parser is one more that reads what anybody may send.
#[must_use]
pub fn dimensions(bytes: &[u8]) -> Option<(u64, u64)> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let known = imagesize::image_type(head).ok()?;
    if !matches!(known, ImageType::Png | ImageType::Jpeg | ImageType::Gif | ImageType::Webp) {
        return None;
    }
    let size = imagesize::blob_size(head).ok()?;
    (size.width > 0 && size.height > 0).then_some((size.width as u64, size.height as u64))
}

fn price((width, height): (u64, u64)) -> u32 {
    let long = width.max(height).max(LONG_EDGE);
    let scaled = |edge: u64| edge.min(u64::from(u32::MAX)) * LONG_EDGE / long;
    let tokens = (scaled(width) * scaled(height)).div_ceil(PIXELS_A_TOKEN);
    u32::try_from(tokens).unwrap_or(FULL_PRICE).clamp(LEAST, FULL_PRICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of these dimensions and this length; only its head is real.
    fn png(width: u32, height: u32, len: usize) -> Image {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 2, 0, 0, 0]);
        bytes.resize(len.max(bytes.len()), 7);
        Image { media_type: "image/png".to_owned(), source: ImageSource::Data(bytes.into()) }
    }

    #[test]
    fn n1_two_encodings_of_one_picture_cost_the_same_few_thousand() {
        let (small, large) = (image(&png(1920, 1080, 100 << 10)), image(&png(1920, 1080, 5 << 20)));
        assert_eq!(small, large);
        assert_eq!(small, 1568 * 882 / 750 + 1);
    }

    #[test]
    fn n1_every_picture_is_between_the_least_and_the_full_price() {
        let edges = [1, 2, 100, 750, 1568, 1569, 8000, u32::MAX];
        for width in edges {
            for height in edges {
                let tokens = image(&png(width, height, 0));
                assert!((LEAST..=FULL_PRICE).contains(&tokens), "{width}x{height}: {tokens}");
            }
        }
        assert_eq!(image(&png(1, 1, 0)), LEAST);
        assert_eq!(image(&png(9600, 9600, 0)), FULL_PRICE);
    }

    #[test]
    fn what_has_no_dimensions_costs_the_full_price() {
        let of = |source| image(&Image { media_type: "image/png".to_owned(), source });
        assert_eq!(of(ImageSource::Url("https://example.com/a.png".to_owned())), FULL_PRICE);
        assert_eq!(of(ImageSource::Data("no picture".into())), FULL_PRICE);
        assert_eq!(of(ImageSource::Data(bytes::Bytes::new())), FULL_PRICE);
        assert_eq!(image(&png(0, 7, 0)), FULL_PRICE);
    }
}
